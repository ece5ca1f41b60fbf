"""Archive releases, and grade each submission with the tests of the release it is based on.

The hidden tests, solution, bank and stub of every release are archived in `.autograder/releases/`
as a course with a single week. If a later release changes the stub of an exercise (names,
parameters, docstring), submissions based on the earlier release are graded with the earlier tests.
If a later release fixes only the lesson, a hint or a hidden test, all submissions are graded with
the current tests.

A student can fetch an nbgrader assignment only once. A corrected week is therefore published under
its own name and under a second name (`week01_softmax-2`), and submissions under both names count.
`CHANGES.md` lists the changes, and week.json contains the release number.
"""

import ast
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ...authoring.scaffolding import fill_template
from ...batch.intake import Submission, Unread
from ...files import course_secret, read_folder, read_state, replace_folder
from ...model.course import REGISTRY, Course, Week, load
from ...model.course.loader import one_week
from ...model.errors import CourseError
from ...model.report.schema import Report
from ...student.folder.week import DESCRIPTION
from ..collect.history import read_student
from ..gradebook.report_store import About, identify
from ..workspace import Workspace

Grade = Callable[[Course, Week, Sequence[Submission]], Report]


def keep_release(course: Course, week: Week, number: int) -> None:
    """Archive the files needed to grade submissions that are based on this release."""
    files: dict[str, bytes] = {}
    for folder in (
        course.exercise_folder(week),
        course.solution_folder(week),
        course.graders(week),
        *course.test_files(week),
    ):
        files |= read_folder(folder, course.root)
    files[REGISTRY] = one_week(course, week).encode()
    files[f"{course.state.name}/secret"] = course_secret(course)
    replace_folder(course.state / "releases" / week.name / str(number), files, 0o700)


def grade_by_release(
    course: Course, week: Week, grade: Grade
) -> tuple[Report, dict[str, About], list[str]]:
    """Grade each collected submission with the tests of the release it is based on.

    Return the merged report, the identity of each submission by student, and a line for each
    earlier release that lists the students graded with its tests.
    """
    abouts: dict[str, About] = {}
    workspace = Workspace(course)
    students = workspace.students("submitted", week)
    groups: dict[int, tuple[Course, list[str]]] = {}
    for student in students:
        number, release = _release_of(course, week, workspace.submitted(student, week))
        groups.setdefault(number, (release, []))[1].append(student)

    def read(student: str) -> Submission:
        submission = read_student(course, week, student)
        abouts[student] = identify(course, week, student, submission)
        return submission

    reports = [
        grade(release, release.week(week.name), Unread(partial(read, s) for s in group))
        for release, group in groups.values()
    ]
    by_name = {s.name: s for report in reports for s in report.submissions}
    merged = msgspec.structs.replace(reports[0], submissions=tuple(by_name[s] for s in students))
    lines = [
        f"made from release {number} and graded by its tests: {', '.join(group)}"
        for number, (_, group) in sorted(groups.items())
        if number
    ]
    return merged, abouts, lines


def course_for(course: Course, week: Week, student: str, folder: Path | None = None) -> Course:
    """Return the course (current or archived) whose tests grade a student's submission.

    folder: the submission's folder; defaults to the folder of the collected submission
    """
    return _release_of(course, week, folder or Workspace(course).submitted(student, week))[1]


def _release_of(course: Course, week: Week, folder: Path) -> tuple[int, Course]:
    """Return the number and the archived course of the release that a submission is based on.

    Return 0 and the current course if its stub is the same, or if the archive cannot be loaded.
    """
    number = release_of(folder)
    if number < current_release(Workspace(course), week):
        with suppress(CourseError):
            archived = load(course.state / "releases" / week.name / str(number), unfinished=True)
            if _stubs(archived, week) != _stubs(course, week):
                return number, archived
    return 0, course


def _stubs(course: Course, week: Week) -> dict[str, str]:
    path: Path = course.exercise_folder(week) / week.module
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return {}
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name: ast.dump(node) for node in tree.body if isinstance(node, kinds)}


CHANGES = "CHANGES.md"


def names(workspace: Workspace, week: Week) -> list[str]:
    """Return all assignment names under which a week can be submitted, oldest release first."""
    found = {}
    for path in workspace.outbound(week).parent.glob(f"{week.name}-*"):
        number = re.fullmatch(rf"{re.escape(week.name)}-(\d+)", path.name)
        if number and path.is_dir():
            found[int(number.group(1))] = path.name
    return [week.name, *(found[number] for number in sorted(found))]


def release_of(folder: Path) -> int:
    """Return the release number in a folder's week.json, or 1 if it is missing or invalid."""
    number = (read_state(folder / DESCRIPTION, dict[str, Any]) or {}).get("release", 1)
    return number if isinstance(number, int) and number > 0 else 1


def current_release(workspace: Workspace, week: Week) -> int:
    """Return the number of the release in the exchange, or 0 before the first release."""
    folder = workspace.outbound(week)
    return release_of(folder) if folder.is_dir() else 0


def changed_files(old: Path, new: Mapping[str, bytes]) -> list[str]:
    """Return the names of the files that a new release adds, changes or removes, sorted.

    Ignore week.json and CHANGES.md. old: folder of the earlier release. new: new files by name
    """
    before = read_folder(old)
    names = {*before, *new} - {CHANGES, DESCRIPTION}
    return sorted(name for name in names if before.get(name) != new.get(name))


def changes_page(week: Week, old: Path, new: Mapping[str, bytes], number: int) -> str:
    """Return the text of CHANGES.md: how to move to the new release, and what has changed."""
    changes = {n: _difference(n, old / n, new.get(n)) for n in changed_files(old, new)}
    about = {"week": week.name, "title": week.title, "module": week.module, "number": number}
    return fill_template("CHANGES.md.blank", {**about, "changes": changes})


def _difference(name: str, old: Path, new: bytes | None) -> str:
    if new is None:
        return "No longer part of the week."
    if not old.is_file():
        return "New."
    if not name.endswith((".py", ".md", ".txt")):
        return "Changed."
    before, after = (d.decode("utf-8", "replace").splitlines() for d in (old.read_bytes(), new))
    # Hide removed lines, because a line that was removed from the stub may now be a secret.
    found = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    return "\n".join(f"    {line}" for line in found if not line.startswith("-"))
