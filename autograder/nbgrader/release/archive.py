"""Archived releases: a submission is graded with the tests of the release that it is based on.

Every release archives its hidden tests, solution, bank and stub in `.autograder/releases/`, as a
course of one week. If a later release changes an exercise (its stub: names, parameters, docstring),
submissions based on the earlier one are graded with the earlier tests. If only a lesson, a hint or
a hidden test was fixed, all submissions are graded with the current tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from ...batch.intake import Submission, Unread
from ...files.secret import course_secret
from ...model.course import REGISTRY, Course, Week, load
from ...model.course.loader import one_week
from ...model.errors import CourseError
from ...model.report.schema import Report
from ..collect.submitted import read_student
from ..gradebook.report_store import About, identify
from ..state_files import replace_folder
from ..workspace import Workspace
from .rerelease import current_release, release_of

Grade = Callable[[Course, Week, Sequence[Submission]], Report]


def keep_release(course: Course, week: Week, number: int) -> None:
    """Archive the files that submissions of a release are graded with."""
    folders = course.exercise_folder(week), course.solution_folder(week), course.graders(week)
    files = {
        path.relative_to(course.root).as_posix(): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    files[REGISTRY] = one_week(course, week).encode()
    files[f"{course.state.name}/secret"] = course_secret(course)
    replace_folder(course.state / "releases" / week.name / str(number), files, 0o700)


def grade_by_release(
    course: Course, week: Week, grade: Grade, abouts: dict[str, About] | None = None
) -> tuple[Report, list[str]]:
    """Grade all collected submissions with the tests of their release; also return notes.

    abouts: filled in with the identity of each submission, by student.
    """
    workspace = Workspace(course)
    students = workspace.students("submitted", week)
    groups: dict[int, list[str]] = {}
    courses: dict[int, Course] = {}
    for student in students:
        number, of = _release_of(course, week, workspace.submitted(student, week))
        groups.setdefault(number, []).append(student)
        courses[number] = of
    reports = [
        grade(of, of.week(week.name), Unread(partial(_read, course, week, s, abouts) for s in own))
        for own, of in zip(groups.values(), courses.values(), strict=True)
    ]
    by_name = {s.name: s for report in reports for s in report.submissions}
    merged = msgspec.structs.replace(reports[0], submissions=tuple(by_name[s] for s in students))
    return merged, [
        f"made from release {number} and graded by its tests: {', '.join(own)}"
        for number, own in sorted(groups.items())
        if number
    ]


def _read(course: Course, week: Week, student: str, abouts: dict[str, About] | None) -> Submission:
    submission = read_student(course, week, student)
    if abouts is not None:
        abouts[student] = identify(course, week, student, submission)
    return submission


def course_for(course: Course, week: Week, student: str, folder: Path | None = None) -> Course:
    """Return the course whose tests grade the student's submission, collected or in `folder`."""
    return _release_of(course, week, folder or Workspace(course).submitted(student, week))[1]


def _release_of(course: Course, week: Week, folder: Path) -> tuple[int, Course]:
    """Return the release that a submission is based on if its exercises have changed since.

    Otherwise return 0 and the current course.
    """
    number = release_of(folder)
    if number < current_release(Workspace(course), week):
        with suppress(CourseError):
            kept = load(course.state / "releases" / week.name / str(number), unfinished=True)
            if _stubs(kept, week) != _stubs(course, week):
                return number, kept
    return 0, course


def _stubs(course: Course, week: Week) -> dict[str, str]:
    """Return the syntax tree of each exercise's stub, as text."""
    path: Path = course.exercise_folder(week) / week.module
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return {}
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name: ast.dump(node) for node in tree.body if isinstance(node, kinds)}
