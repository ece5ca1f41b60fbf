"""The authors' commands and `doctor`, after their options are read."""

__all__ = [
    "doctor_report",
    "making",
    "mutation",
    "try_file",
    "verification",
    "verification_watch",
]
