"""Verify the files that students get: public checks, hints, README and lesson.

Public checks run as in `autograder check`. They must pass for the solution and every alternative,
and fail for the stub. Each exercise needs at least one public check. The lesson is run from top to
bottom with the solution, in a separate kernel.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...files import write_files
from ...model.course import REGISTRY, Course, Week
from ...model.course.bank import Bank
from ...model.course.stubs import stub_of
from ...model.errors import BuildError, KitError
from ...student.checks.check_results import CheckOutcome, ExerciseResult
from ...student.checks.launcher import WarmPython
from ...student.commands.check import Checked, check_week
from ...student.folder.lessons import parse_hints
from ...student.folder.week import DESCRIPTION, WeekFolder, describe_week, open_folder
from ...student.show.wording import cause
from ..lesson.handout import lesson_notebook, week_files
from ..lesson.leak_check import exercises_given_away
from .week_parts import Verification

_ROW = re.compile(r"\| `(?P<name>\w+)`[^|]*\| (?P<points>\d+(\.\d+)?) \|")
_SECONDS = 60.0  # time limit of each check
_CELL_SECONDS = 1800  # only endless loops: a busy machine must not fail a lesson


def verify_public(course: Course, week: Week, exercise: str = "") -> Verification:
    """Verify the public files of a week, or of one exercise."""
    result = Verification(week.name)
    result.gaps += _hint_gaps(course, week, exercise)
    if not exercise:
        result.gaps += _readme_gaps(course, week)
        result.gaps += _lesson_gaps(course, week)
    names = [e.name for e in week.exercises if exercise in ("", e.name)]
    checks = course.exercise_folder(week) / f"test_{week.stem}.py"
    if not checks.is_file():
        result.gaps.append(f"{checks.relative_to(course.root)} is missing: write public checks")
        return result
    with tempfile.TemporaryDirectory(prefix="autograder-public-") as place:
        folder = _student_folder(course, week, Path(place) / week.name)
        unassigned, checked = _assigned_checks(folder)
        result.gaps += unassigned
        missing = [name for name in names if name not in checked]
        result.gaps += (f"{n} has no public check: write test_{n}_..." for n in missing)
        if not (names := [name for name in names if name in checked]):
            return result
        warm = WarmPython(folder)

        def check(source: str) -> Checked:
            folder.module.write_text(source, encoding="utf-8")
            return check_week(folder, names, seconds=_SECONDS, warm=warm)

        try:
            result.gaps += _check_gaps(course, week, check, result)
        except KitError as error:
            result.gaps.append(f"{checks.relative_to(course.root)}: {error}")
        finally:
            warm.close()
    return result


def _student_folder(course: Course, week: Week, path: Path) -> WeekFolder:
    checks, assets = f"test_{week.stem}.py", course.root / "assets"
    files = {
        DESCRIPTION: describe_week(course, week),
        week.module: stub_of(course, week).encode(),
        checks: (course.exercise_folder(week) / checks).read_bytes(),
        **{name: (assets / name).read_bytes() for name in week.files},
    }
    write_files(path, files)
    return open_folder(path)


def _hint_gaps(course: Course, week: Week, only: str) -> Iterator[str]:
    path = course.exercise_folder(week) / "hints.md"
    try:
        hints = parse_hints(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        yield f"{path.relative_to(course.root)} is missing"
        return
    names = [e.name for e in week.exercises]
    for name in names:
        if not hints.get(name) and only in ("", name):
            yield f"{name} has no hint in hints.md"
    for name in hints.keys() - {*names}:
        yield f"hints.md has hints for {name}, which is not an exercise"


def _lesson_gaps(course: Course, week: Week) -> Iterator[str]:
    try:
        lesson_notebook(course, week)
        yield from exercises_given_away(course, week)
    except BuildError as error:
        yield str(error)


def _readme_gaps(course: Course, week: Week) -> Iterator[str]:
    """Yield a gap if the README is missing, or omits or misstates the points of an exercise."""
    readme = course.exercise_folder(week) / "README.md"
    shown = readme.relative_to(course.root)
    if not readme.is_file():
        yield f"{shown} is missing"
        return
    points = {e.name: e.points for e in week.exercises}
    listed = set[str]()
    for number, line in enumerate(readme.read_text(encoding="utf-8").split("\n"), start=1):
        row = _ROW.match(line)
        if row and row["name"] in points and float(row["points"]) != points[row["name"]]:
            found, correct = row["points"], f"{points[row['name']]:g}"
            where = f"{shown}:{number}"
            yield f"{where}: {row['name']} has {found} points, but {correct} in {REGISTRY}"
        if row:
            listed.add(row["name"])
    for name, value in points.items():
        if name not in listed:
            yield f"{shown} has no row `| `{name}` | {value:g} |` in its table"


def _assigned_checks(folder: WeekFolder) -> tuple[list[str], set[str]]:
    """Return gaps for checks whose names match no exercise, and the exercises of the others."""
    text = folder.checks.read_text(encoding="utf-8")
    exercises = {t: folder.exercise_of(t) for t in re.findall(r"^def (test\w*)", text, re.M)}
    gaps = [
        f"{folder.checks.name}: the name of {test} contains no exercise"
        for test, exercise in exercises.items()
        if not exercise
    ]
    return gaps, {e for e in exercises.values() if e}


def _check_gaps(
    course: Course, week: Week, check: Callable[[str], Checked], result: Verification
) -> Iterator[str]:
    """Run the checks on the stub, the solution and the alternatives; yield unexpected results."""
    for exercise in check(stub_of(course, week)).exercises:
        for outcome in exercise.outcomes:
            if not outcome.failure and not outcome.skipped:
                yield f"the stub passes the public check {outcome.test}"
    wrong = set[str]()  # checks that the solution fails, not reported again for alternatives
    for name, source in Bank(course, week).correct_programs:
        found = check(source)
        if found.broken:
            yield f"{name}: {found.broken.message}"
        for exercise in found.exercises:
            is_solution = name == "the solution"
            result.not_run |= {o.test for o in exercise.outcomes if o.skipped and is_solution}
            for test, reason in _failures(exercise, week.module):
                if test not in wrong:
                    yield f"{name} fails the public check {test}: {reason}"
                if is_solution:
                    wrong.add(test)


def _failures(exercise: ExerciseResult, module: str) -> Iterator[tuple[str, str]]:
    outcomes: tuple[CheckOutcome, ...] = exercise.outcomes
    if exercise.first and exercise.first.failure and not exercise.first.test:
        outcomes = (exercise.first,)  # a forbidden call or name fails the whole exercise
    for outcome in outcomes:
        if outcome.failure:
            yield outcome.test or exercise.name, cause(outcome.failure, exercise.name, module)


def verify_lesson(course: Course, week: Week) -> Verification:
    """Verify that all cells of the lesson run without errors and warnings, and all checks pass."""
    result = Verification(week.name)
    try:
        files = week_files(course, week)
    except KitError as error:
        result.gaps.append(str(error))
        return result
    notebook = run_lesson(course, week, files)
    result.gaps += (f"the lesson: {problem}" for problem in cell_problems(notebook))
    return result


def run_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """Run the notebook in `files` with the solution as the module; return it with its outputs."""
    with tempfile.TemporaryDirectory(prefix="autograder-lesson-") as place:
        folder = Path(place) / week.name
        write_files(folder, files | imported_modules(course, week, files))
        (folder / week.module).write_bytes(course.solution(week).read_bytes())
        return _execute(folder, f"{week.name}.ipynb")


def imported_modules(course: Course, week: Week, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the solutions of other weeks that the lesson imports if a student has copied them."""
    lesson = files[f"{week.name}.ipynb"].decode()
    others = (w for w in course.weeks if f'"    import {w.stem}\\n"' in lesson)
    return {other.module: course.solution(other).read_bytes() for other in others}


def cell_problems(notebook: Any) -> Iterator[str]:
    """Yield errors and warnings of an executed notebook, with the cell's number and first line."""
    cells = (c for c in notebook.cells if c.cell_type == "code")
    for number, cell in enumerate(cells, start=1):
        where = f"code cell {number}, {cell.source.strip().split(chr(10))[0]}"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"{where}: {output.ename}: {output.evalue}"
            elif output.output_type == "stream" and output.name == "stderr":
                yield f"{where}: on stderr: {output.text[:500]}"


def _execute(folder: Path, name: str) -> Any:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    notebook = nbformat.read(folder / name, as_version=4)
    started: list[Any] = []
    reasons: dict[type[Exception], str] = {
        CellTimeoutError: f"it ran for more than {_CELL_SECONDS} s",
        DeadKernelError: "Python ended in this cell",
    }
    settings = {
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYTHONWARNINGS": "default",
        "NBGRADER_EXECUTION": "validate",  # a failing check raises
    }
    client = NotebookClient(
        notebook,
        timeout=_CELL_SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=lambda cell, **_: started.append(cell),
        extra_arguments=["--log-level=ERROR"],  # hide the warning about unencrypted TCP
    )
    try:
        client.execute(env=os.environ | settings)
    except tuple(reasons) as error:
        kind = type(error)
        output = nbformat.v4.new_output("error", ename=kind.__name__, evalue=reasons[kind])
        started[-1].outputs.append(output)
    return notebook
