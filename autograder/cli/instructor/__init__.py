"""The instructors' commands."""

__all__ = [
    "class_report",
    "collecting",
    "demo_week",
    "doctor_report",
    "exporting",
    "grading",
    "marks",
    "pushing",
    "regrading",
    "releasing",
    "serving",
    "status_table",
]
