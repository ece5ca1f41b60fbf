"""Late penalties in nbgrader's gradebook, by the rules of course.yaml.

nbgrader does not tell its plugin the name of the assignment, and calls it only after nbgrader's
due date. So the penalty is set here whenever scores are saved and again,
from all points including manual marks, when feedback is generated.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from nbgrader.api import Assignment, Gradebook, MissingEntry, SubmittedAssignment

from ...files.folder_lock import in_turn
from ...model.course import Course, Week
from ...model.course.late import Lateness, lateness
from ..collect.cell_repair import CoursePreprocessor, Notebook, Resources
from .report_store import recorded_folder


class CountLateness(CoursePreprocessor):
    """Before feedback, update the late penalty and put its arithmetic into the resources."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        about, course = resources["nbgrader"], self.course()
        week = self.week(course, resources)
        with (
            in_turn(recorded_folder(course, week)),
            Gradebook(about["db_url"]) as gradebook,
        ):
            try:
                about["late"] = update_penalty(course, gradebook, week, about["student"])
            except MissingEntry:
                return nb, resources
            gradebook.db.commit()
        return nb, resources


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
