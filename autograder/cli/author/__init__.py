"""The authors' commands."""

__all__ = ["try_file", "verification", "weeks"]
