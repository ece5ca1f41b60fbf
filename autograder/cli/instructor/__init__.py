"""Commands for instructors."""

__all__ = [
    "assignments",
    "class_report",
    "demo_week",
    "gradebook_files",
    "grading",
    "overview",
    "pushing",
    "regrading",
    "serving",
]
