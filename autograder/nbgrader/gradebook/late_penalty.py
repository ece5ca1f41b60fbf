"""Late penalties in nbgrader's gradebook, by the rules of course.yaml.

nbgrader does not tell its plugin the name of the assignment, and calls it only after nbgrader's
due date. So the penalty is set here whenever scores are saved and again,
from all points including manual marks, when feedback is generated.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from nbgrader.api import Assignment, SubmittedAssignment

from ...model.course import Course, Week
from ...model.course.late import Lateness, lateness


def update_penalty(course: Course, gradebook: Any, week: Week, student: str) -> str:
    """Set a submission's late penalty from its points; return the arithmetic in words, or ""."""
    found = student_lateness(course, gradebook, student).get(week.name)
    sentence = ""
    for notebook in gradebook.find_submission(week.name, student).notebooks:
        gradebook.db.flush()
        gradebook.db.refresh(notebook, ["score"])  # the database computes the sum
        score = float(notebook.score)
        penalty = (found.penalty(score) or None) if found else None
        if notebook.late_submission_penalty != penalty:
            notebook.late_submission_penalty = penalty
        sentence = found.sentence(score) if found else ""
    return sentence


def student_lateness(course: Course, gradebook: Any, student: str) -> dict[str, Lateness]:
    """Return by week how late the student's submissions in the gradebook are."""
    query = gradebook.db.query(
        Assignment.name, SubmittedAssignment.timestamp, SubmittedAssignment.extension
    ).join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
    weeks = {week.name for week in course.weeks}
    rows = query.filter(SubmittedAssignment.student_id == student, Assignment.name.in_(weeks)).all()
    submitted = {name: time.replace(tzinfo=dt.UTC) for name, time, _ in rows if time is not None}
    extensions = {name: extension or dt.timedelta() for name, _, extension in rows}
    return lateness(course, student, submitted, extensions)
