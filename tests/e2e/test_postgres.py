"""Run a course week with nbgrader's gradebook on a PostgreSQL server.

`make e2e` runs it. The test starts and stops the server, which requires a password; course.yaml
does not contain the password.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

import tests.nbgrader.tiny_course as TINY
from autograder.model.course import Course, load
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.postgres import NEEDS, Server, postgres
from tests.standings import WeekStanding, standings

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
pytestmark = NEEDS
SQUARES = "def double(x):\n    return x**2\n\n\ndef halve(x):\n    return x / 2\n"
TOO_STRICT = '''def test_values(agree, submission):
    """Half of it."""
    agree.halve(3.5)
    assert submission.halve(1.0) > 1, "a mistake in the test"
'''
MENDED = '''def test_values(agree):
    """Half of it."""
    agree.halve(3.5)
'''


WEEK = TINY.WEEK


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def root(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("server") / "course"
    TINY.write_course(root)
    with (root / "course.yaml").open("a", encoding="utf-8") as file:
        file.write(f"nbgrader:\n  db_url: {server.url}\n")
        file.write("late: {percent: 10, floor: 40}\n")
    graders = root / "autograder" / "graders" / WEEK
    (graders / "test_halve.py").write_text(TOO_STRICT, encoding="utf-8")
    return root


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(root: Path, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a program in a folder; the password comes from libpq's password file."""
    home = tmp_path_factory.mktemp("home")
    passwords = home / ".pgpass"
    passwords.touch(mode=0o600)
    passwords.write_text(f"*:*:*:teacher:{server.password}\n", encoding="utf-8")

    def run(program: str, *arguments: str | Path, cwd: Path = root, passes: bool = True) -> Any:
        done = subprocess.run(
            [PROGRAMS / program, *map(str, arguments)],
            cwd=cwd,
            env={
                "PATH": f"{PROGRAMS}{os.pathsep}{os.defpath}",
                "HOME": str(home),
                "PGPASSFILE": str(passwords if passes else home / "none"),
                "JUPYTER_DATA_DIR": str(cwd / "jupyter"),
                "JUPYTER_PLATFORM_DIRS": "1",
                "OMP_NUM_THREADS": "1",
                "NO_COLOR": "1",
                "COLUMNS": "80",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = done.stdout + done.stderr
        assert server.password not in said
        odd = {"release", "collect", "status"}  # the due date is past, user names differ
        fine = (0, 1) if odd & {*arguments} else (0,)
        assert done.returncode in fine or not passes, said
        return done

    return run


@dataclass
class Played:
    course: Course
    graded: dict[str, WeekStanding]
    marked: dict[str, WeekStanding]
    mended: dict[str, WeekStanding]
    exported: dict[str, dict[str, str]]
    feedback: str
    status: Any


@pytest.fixture(scope="module")
def played(root: Path, run: Run, server: Server) -> Played:
    """Release, submit, collect, grade, mark, return feedback, export, fix a test and regrade."""
    run("autograder", "release", "week01", "--unproven")
    homes = {name: hand_in(name, root, run) for name in ("ada", "alan")}
    run("autograder", "collect", "week01")
    run("autograder", "grade", "week01")
    course = load(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", server.password)
        graded = by_student(course)
        with open_gradebook(course) as gradebook:
            grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
            grade.manual_score, grade.needs_manual_grade = 2.5, False
            gradebook.db.commit()
        marked = by_student(course)
        (course.graders(course.weeks[0]) / "test_halve.py").write_text(MENDED, encoding="utf-8")
        run("autograder", "regrade", "week01", "--apply", "--reason", "test_halve was too strict")
        mended = by_student(course)
    run("autograder", "feedback", "week01", "--unmarked")
    run("nbgrader", "fetch_feedback", WEEK, "--student=ada", cwd=homes["ada"])
    (page,) = (homes["ada"] / WEEK / "feedback").rglob("*.html")
    run("autograder", "export", "week01", "--unmarked", "--format", "csv", "--out", "grades.csv")
    with (root / "grades.csv").open(encoding="utf-8", newline="") as file:
        exported = {row["student"]: row for row in csv.DictReader(file)}
    status = json.loads(run("autograder", "status", "--json").stdout)
    return Played(
        course, graded, marked, mended, exported, page.read_text(encoding="utf-8"), status
    )


def hand_in(name: str, root: Path, run: Run) -> Path:
    home = root.parent / name
    home.mkdir()
    (home / "nbgrader_config.py").write_text(
        f"c.Exchange.root = {str(root / 'nbgrader' / 'exchange')!r}\n"
        "c.CourseDirectory.course_id = 'tiny'\n",
        encoding="utf-8",
    )
    run("nbgrader", "fetch_assignment", WEEK, cwd=home)
    module = TINY.SOLUTION if name == "ada" else SQUARES
    (home / WEEK / "doubling.py").write_text(module, encoding="utf-8")
    path = home / WEEK / f"{WEEK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "why":
            cell.source = f"Because, says {name}."
    nbformat.write(notebook, path)
    run("nbgrader", "submit", WEEK, f"--student={name}", cwd=home)
    return home


def by_student(course: Course) -> dict[str, WeekStanding]:
    return {s.student: s for s in standings(course, course.weeks[0])}


def test_the_gradebook_is_on_the_server(played: Played, server: Server) -> None:
    assert server.asked("select id from student order by id").split() == ["ada", "alan"]
    assert not list(Workspace(played.course).root.glob("*.db"))


def test_scores_are_recorded(played: Played) -> None:
    assert played.graded["ada"].scores == {"double": 2, "halve": 0, "why": 0}
    assert played.graded["alan"].scores == {"double": 0, "halve": 0, "why": 0}
    assert [s.to_mark for s in played.graded.values()] == [1, 1]


def test_a_mended_test_changes_scores_and_no_mark(played: Played) -> None:
    assert played.marked["ada"].scores == {"double": 2, "halve": 0, "why": 2.5}
    assert played.mended["ada"].scores == {"double": 2, "halve": 1, "why": 2.5}
    assert played.mended["alan"].scores == {"double": 0, "halve": 1, "why": 0}
    assert played.mended["ada"].to_mark == 0


def test_late_work_is_counted_and_exported(played: Played) -> None:
    """Check that late work from 2020 keeps the minimum share of 5.5 points and of 1 point."""
    assert [played.exported[s][WEEK] for s in ("ada", "alan")] == ["2.2", "0.4"]


def test_feedback_holds_the_mended_score_and_what_late_work_costs(played: Played) -> None:
    assert "2.2 of 6 points" in played.feedback  # of 2 + 1 + 2.5


def test_status_reads_the_server(played: Played) -> None:
    (week,) = played.status
    assert week["graded"] == ["ada", "alan"]
    assert week["to_mark"] == {"alan": 1}


def test_no_file_holds_the_password(played: Played, server: Server) -> None:
    files = [p for p in played.course.root.parent.rglob("*") if p.is_file()]
    assert len(files) > 50
    assert [p for p in files if server.password.encode() in p.read_bytes()] == []


def test_without_the_password_one_line_says_so(played: Played, run: Run) -> None:
    done = run("autograder", "status", passes=False)
    assert done.returncode == 2
    assert "the gradebook at nbgrader.db_url cannot be read" in done.stderr
    assert "password" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_queue_of_the_service_behaves_there_as_on_sqlite(server: Server) -> None:
    own = {"AUTOGRADER_QUEUE_DB": server.url, "PGPASSWORD": server.password}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/serve/test_queue.py"],
        cwd=PROJECT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
