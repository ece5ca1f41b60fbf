"""Run four graders: this kit, plain nbgrader, Otter-Grader, and one pytest process per submission.

Each grader runs the same hidden tests on the same modules. It returns its cost, and for each
student and exercise whether all tests passed. The cost includes start-up, grading and writing the
results, but not the setup (creating the release or the autograder package).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat

from autograder.model.course import Course, Week
from autograder.model.report.schema import Verdict

from .measure import ROOT, Cost, run
from .sample import lay

Passed = dict[str, dict[str, bool]]
Chosen = list[tuple[str, str]]
Grader = Callable[[Path, Course, Week, Chosen], tuple[Cost, Passed]]
BIN = Path(sys.executable).parent
OTTER = Path(os.environ.get("OTTER", ROOT / ".venv-bench" / "bin" / "otter"))


def kit(folder: Path, course: Course, week: Week, chosen: Chosen) -> tuple[Cost, Passed]:
    """Run `autograder grade` with one job and no cached results, in the sandbox."""
    for known in ("results", "bank"):
        shutil.rmtree(course.state / known, ignore_errors=True)
    paths = lay(folder / "handed-in", week, chosen)
    report = folder / "report.json"
    command = [sys.executable, "-m", "autograder", "grade", week.name, *paths]
    command += ["--jobs", "1", "--device", "fake-gpu", "--json", report]
    cost = run(command, course.root, folder / "log")
    passed = {}
    for submission in json.loads(report.read_text(encoding="utf-8"))["submissions"]:
        assert submission["verdict"] == "graded", submission["message"]
        passed[submission["name"]] = {
            e["name"]: not any(Verdict(t["verdict"]).reported for t in e["tests"])
            for e in submission["exercises"]
        }
    return cost, passed


def nbgrader(folder: Path, course: Course, week: Week, chosen: Chosen) -> tuple[Cost, Passed]:
    """Run `nbgrader autograde` on the class; each exercise has one cell with hidden tests."""
    home = folder / "nbgrader"
    source = home / "source" / week.name / f"{week.name}.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(_notebook(course, week), source)
    (home / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.course_id = 'bench'\n"
        "c.ExecutePreprocessor.timeout = 600\n"
        "c.Exchange.root = './exchange'\n",
        encoding="utf-8",
    )
    command = [BIN / "nbgrader", "generate_assignment", week.name]
    environment = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "JUPYTER_PLATFORM_DIRS": "1"}
    run(command, home, folder / "log", **environment)
    released = home / "release" / week.name / source.name
    for name, text in chosen:
        place = home / "submitted" / name / week.name
        place.mkdir(parents=True)
        shutil.copy(released, place)
        (place / week.module).write_text(text, encoding="utf-8")
    cost = run([BIN / "nbgrader", "autograde", week.name], home, folder / "log", **environment)
    return cost, _gradebook(home, week)


def _notebook(course: Course, week: Week) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(f"import {week.stem}")]
    for exercise in week.exercises:
        call = f"check({str(course.root)!r}, {week.name!r}, {week.module!r}, {exercise.name!r})"
        text = "### BEGIN HIDDEN TESTS\nfrom benchmarks.plain import check\n"
        cell = nbformat.v4.new_code_cell(f"{text}{call}\n### END HIDDEN TESTS")
        cell.metadata["nbgrader"] = {
            **{"grade": True, "locked": True, "solution": False, "task": False},
            **{"points": 1, "grade_id": exercise.name, "schema_version": 3, "cell_type": "code"},
        }
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _gradebook(home: Path, week: Week) -> Passed:
    from nbgrader.api import Gradebook

    passed: Passed = {}
    with Gradebook(f"sqlite:///{home / 'gradebook.db'}", "bench") as gradebook:
        for submission in gradebook.assignment_submissions(week.name):
            [notebook] = submission.notebooks
            passed[submission.student.id] = {g.name: g.score == 1.0 for g in notebook.grades}
    return passed


def otter(folder: Path, course: Course, week: Week, chosen: Chosen) -> tuple[Cost, Passed]:
    """Run `otter run` on each submission, a zip of a notebook and a module.

    There is one test per exercise.
    """
    tests = folder / "tests"
    tests.mkdir(parents=True)
    for exercise in week.exercises:
        call = f"check({str(course.root)!r}, {week.name!r}, {week.module!r}, {exercise.name!r})"
        (tests / f"{exercise.name}.py").write_text(
            "from otter.test_files import test_case\n"
            f"OK_FORMAT = False\nname = {exercise.name!r}\npoints = 1\n\n"
            "@test_case(points=1, hidden=True)\ndef test_all():\n"
            f"    from benchmarks.plain import check\n    {call}\n",
            encoding="utf-8",
        )
    package = folder / "autograder.zip"
    command = [OTTER, "generate", "-t", tests, "-o", package]
    run([*command, "--no-environment", "--no-requirements", "--no-config"], folder, folder / "log")
    empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"import {week.stem}")])
    empty.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    total, passed = Cost(0.0, 0.0, 0.0), {}
    for name, text in chosen:
        handed_in, out = folder / f"{name}.zip", folder / name
        out.mkdir()
        with zipfile.ZipFile(handed_in, "w") as archive:
            archive.writestr(f"{week.stem}.ipynb", nbformat.writes(empty))
            archive.writestr(week.module, text)
        command = [OTTER, "run", "--no-logo", "-a", package, "-o", out, handed_in]
        total = _sum(total, run(command, folder, folder / "log"))
        results = json.loads((out / "results.json").read_text(encoding="utf-8"))["tests"]
        scores = {r["name"].split(" ")[0]: r.get("score") == 1 for r in results}
        passed[name] = {e.name: scores[e.name] for e in week.exercises}
    return total, passed


def pytest(folder: Path, course: Course, week: Week, chosen: Chosen) -> tuple[Cost, Passed]:
    """Run one process of `benchmarks.plain` per submission, which imports the student's module."""
    total, passed = Cost(0.0, 0.0, 0.0), {}
    for path in lay(folder / "handed-in", week, chosen):
        out = path / "passed.json"
        command = [sys.executable, "-m", "benchmarks.plain", course.root, week.name]
        total = _sum(total, run([*command, path / week.module, out], path, folder / "log"))
        passed[path.name] = json.loads(out.read_text(encoding="utf-8"))
    return total, passed


def _sum(a: Cost, b: Cost) -> Cost:
    return Cost(a.wall + b.wall, a.cpu + b.cpu, max(a.memory, b.memory))


def needs() -> str:
    """Return an error message if Otter-Grader is missing or does not run, or "" otherwise."""
    if not OTTER.is_file():
        return (
            f"Otter-Grader is not installed at {OTTER}: run `make bench`, or set the environment "
            "variable OTTER to the path of `otter`"
        )
    done = subprocess.run([OTTER, "--version"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{OTTER} --version failed: {done.stderr.strip()}"
