"""What late work costs, told to nbgrader.

nbgrader asks its plugin with a student, a score and seconds, and does not say for which assignment;
but the preprocessor that asks is the plugin's parent, and knows. It asks when a submission is
graded automatically. Written answers are marked later, so the penalty is counted again, from all
points, when feedback is made.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Unicode

from ...files.folder_lock import in_turn
from ...model.course.late import Lateness, lateness
from ...model.course.loader import Course
from ..autograde.bulk_entry import handed_in_times, penalty_of
from ..collect.cell_repair import CoursePreprocessor, Notebook, Resources, course_at
from .report_store import recorded_folder


class LateByCourse(LateSubmissionPlugin):
    """nbgrader's late-penalty plugin that follows course.yaml."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        asking: Any = self.parent
        found = student_lateness(course_at(Path(self.project)), asking.gradebook, student_id)
        one = found.get(asking.assignment_id)
        if one is None:
            return None
        self.log.info("%s, %s: %s", asking.assignment_id, student_id, one.sentence(score))
        return one.penalty(score)


class PenaltyIfLate(AssignLatePenalties):
    """nbgrader's AssignLatePenalties, which has nothing to do for most."""

    def preprocess(self, nb: Notebook, resources: ResourcesDict) -> tuple[Notebook, ResourcesDict]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            times = handed_in_times(gradebook.db, about["student"])
            due, handed, more = times.get(about["assignment"], (None, None, dt.timedelta()))
            late = due is not None and handed is not None and handed > due + more
            if not late and penalty_of(gradebook.db, about) is None:
                return nb, resources
        return super().preprocess(nb, resources)


class CountLateness(CoursePreprocessor):
    """Before feedback: the penalty from all points given by now, and its arithmetic."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        about, course = resources["nbgrader"], self.course()
        with Gradebook(about["db_url"]) as gradebook:
            notebook: Any
            try:
                notebook = gradebook.find_submission_notebook(
                    about["notebook"], about["assignment"], about["student"]
                )
            except MissingEntry:
                return nb, resources
            one = student_lateness(course, gradebook, about["student"]).get(about["assignment"])
            if one is not None:
                score = float(notebook.score)
                penalty = one.penalty(score) or None
                if penalty != notebook.late_submission_penalty:
                    with in_turn(recorded_folder(course, self.week(course, resources))):
                        notebook.late_submission_penalty = penalty
                        gradebook.db.commit()
                about["late"] = one.sentence(score)
        return nb, resources


def student_lateness(course: Course, gradebook: Any, student: str) -> dict[str, Lateness]:
    """The lateness of everything that the gradebook says a student handed in, by week."""
    weeks = {week.name for week in course.weeks}
    times = {
        name: (handed.replace(tzinfo=dt.UTC), more)
        for name, (_, handed, more) in handed_in_times(gradebook.db, student).items()
        if handed is not None and name in weeks
    }
    handed = {name: time for name, (time, _) in times.items()}
    return lateness(course, student, handed, {name: more for name, (_, more) in times.items()})
