"""The instructors' commands, after their options are read.

Each `run_*` function prints its result and returns False if something needs the instructor's
attention, which becomes exit code 1.
"""

__all__ = [
    "class_report",
    "collecting",
    "demo_week",
    "exporting",
    "grading",
    "marks",
    "pushing",
    "regrading",
    "releasing",
    "serving",
    "status_table",
]
