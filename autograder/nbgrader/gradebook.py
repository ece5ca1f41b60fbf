"""From reports to nbgrader's gradebook, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..files.turns import in_turn
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from ..model.report import Report
from ..model.scoring import rounded
from ..model.verdicts import Ending
from .database import read_gradebook
from .dates import bring_dates, lines
from .groups import share_marks
from .handmarks import keep_marks, require_marks, restore_marks
from .opened import one_gradebook
from .rebuild import require_held, restore_assignment
from .recorded import About, recorded_folder
from .settled import standing_already
from .submitted import collected, complete
from .workspace import Workspace, open_api, open_gradebook

__all__ = [
    "RecordedScores",
    "WeekStanding",
    "collected",
    "final_scores",
    "record",
    "require_released",
    "standings",
]


@dataclass(frozen=True)
class WeekStanding:
    """One student's scores for a week as the gradebook holds them."""

    student: str
    score: float
    max_score: float
    to_mark: int  # written answers that nobody has marked yet
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedScores:
    """What `record` did: who stands in the gradebook now, who does not and why, and oddities."""

    recorded: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What is to be said about it."""
        total = len(self.recorded) + len(self.left_out)
        return [
            *self.notes,
            *(f"{student}: not recorded: {why}" for student, why in self.left_out.items()),
            f"{len(self.recorded)} of {total} recorded in the gradebook",
        ]


def require_released(course: Course, week: Week) -> None:
    """Raise NbgraderError if a week's scores would have no place in the gradebook."""
    if not Workspace(course).released(week).is_dir():
        raise NbgraderError(
            f"{week.name} was not released from here, so its scores have no place in the "
            f"gradebook: `autograder release {week.name}` first"
        )


def record(
    course: Course,
    week: Week,
    report: Report,
    on_done: Callable[[], None] = lambda: None,
    abouts: dict[str, About] | None = None,
) -> RecordedScores:
    """Run nbgrader's autograde step for every submission of the report, in this process.

    abouts: by student, what was read when it was graded.

    Scores come from the report, no notebook is executed. A submission that could not be graded
    through a fault of ours keeps what the gradebook holds.
    """
    require_released(course, week)
    recording = RecordedScores()
    keep_marks(course)
    if note := restore_assignment(course, week):
        recording.notes.append(f"LOOK  {note}")
    settled, otherwise = standing_already(course, week, report, abouts or {})
    if otherwise:
        recording.notes.append(
            f"graded before and now judged otherwise, because the graders changed: "
            f"{', '.join(otherwise)}; `autograder regrade` shows why and keeps a log"
        )
    pending = []
    for submission in report.submissions:
        student = submission.name
        if submission.verdict is Ending.GRADER_FAULT:
            recording.left_out[student] = "the grading system failed on it"
        elif not Workspace(course).submitted(student, week).is_dir():
            recording.left_out[student] = "nothing was collected under this name"
        elif student in settled:
            recording.recorded.append(student)
        else:
            pending.append(student)
            continue
        on_done()
    if pending:
        _autograde(course, week, report, pending, abouts or {}, recording, on_done)
    recording.notes.extend(f"LOOK  {note}" for note in restore_marks(course, week))
    share_marks(course, week)
    recording.notes.extend(lines(bring_dates(course)))
    return recording


def _autograde(
    course: Course,
    week: Week,
    report: Report,
    students: list[str],
    abouts: dict[str, About],
    recording: RecordedScores,
    on_done: Callable[[], None],
) -> None:
    """nbgrader's step for these students, with their scores from the report."""
    from .preprocessor import at_hand
    from .series import autograding, run_one

    api = open_api(course)
    series = autograding(api)
    with at_hand(report, abouts), one_gradebook(course) as opened:

        def enter(student: str) -> None:
            with in_turn(recorded_folder(course, week)), opened.whole():
                run_one(api, series, week.name, student)

        for student in students:
            try:
                try:
                    enter(student)
                except NbgraderError:
                    folder = Workspace(course).submitted(student, week)
                    if not (note := complete(course, week, folder)):
                        raise
                    recording.notes.append(f"{student}: {note}")
                    abouts.pop(student, None)  # the submission is another one now
                    enter(student)
                recording.recorded.append(student)
            except NbgraderError as error:
                recording.left_out[student] = str(error)
            on_done()


def standings(course: Course, week: Week) -> list[WeekStanding]:
    """The week's scores from the gradebook, by student."""
    from nbgrader.api import MissingEntry

    found = []
    with open_gradebook(course) as gradebook:
        try:
            assignment = gradebook.find_assignment(week.name)
        except MissingEntry:
            return []
        for submission in assignment.submissions:
            grades = [g for notebook in submission.notebooks for g in notebook.grades]
            found.append(
                WeekStanding(
                    student=submission.student.id,
                    score=float(submission.score),
                    max_score=float(submission.max_score),
                    to_mark=sum(bool(g.needs_manual_grade) for g in grades),
                    scores={g.name: float(g.score) for g in grades},
                )
            )
    return sorted(found, key=lambda s: s.student)


def final_scores(course: Course, week: Week) -> dict[str, float]:
    """What each student gets for a week: all points, less what late work costs.

    Raises NbgraderError if the gradebook has lost scores that were recorded.
    """
    require_marks(course, week)
    bring_dates(course)
    decimals = course.registry.decimals
    _, entries = read_gradebook(course)
    scores = {
        e.student: max(0.0, rounded(e.score - e.penalty, decimals))
        for e in entries
        if e.week == week.name
    }
    require_held(course, week, scores)
    return scores
