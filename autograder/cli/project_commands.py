"""The commands for instructors and authors, which a student's wheel does not contain."""

# ruff: noqa: I001  # the order is that of `autograder --help`
from .instructor import doctor_report, releasing, collecting, grading, class_report, exporting
from .instructor import demo_week, status_table, regrading, marks, pushing, serving
from .author import building, verifying, try_file, making

__all__ = [
    "building",
    "class_report",
    "collecting",
    "demo_week",
    "doctor_report",
    "exporting",
    "grading",
    "making",
    "marks",
    "pushing",
    "regrading",
    "releasing",
    "serving",
    "status_table",
    "try_file",
    "verifying",
]
