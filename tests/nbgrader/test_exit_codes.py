"""Test the table in docs/exit-codes.md: run each command for each cell."""

from __future__ import annotations

import os
import pwd
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest

from autograder.cli import app, run
from autograder.model.course import Course, Week
from autograder.model.report.schema import Ending, SubmissionReport
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.formgrader.marking_sheets import code_of
from autograder.nbgrader.regrade.regrade_log import REQUEST
from autograder.nbgrader.workspace import Workspace
from tests.channels.platform_server import TOKEN, CanvasServer, serving
from tests.nbgrader.tiny_course import REGISTRY, SOLUTION, WEEK, graded, report

PROJECT = Path(__file__).resolve().parents[2]
ME = pwd.getpwuid(os.getuid()).pw_name  # my submission under this name belongs to me
REFUSED = SubmissionReport(ME, Ending.REFUSED, 0.0, 3.0, 0.0, "doubling.py is missing.")
# Cells that take minutes, a terminal or a broken machine.
ELSEWHERE = {
    ("watch", 0): "tests/student/test_watch.py",
    ("submit", 0): "tests/serve/test_service.py",
    ("submit", 1): "tests/serve/test_service.py",
    ("learn", 0): "tests/learn/test_command.py",
    ("learn", 2): "tests/learn/test_command.py",
    ("demo", 0): "tests/nbgrader/test_demo.py",
    ("demo", 1): "tests/nbgrader/test_demo.py",
    ("regrade", 1): "tests/nbgrader/test_regrade.py",
    ("verify", 0): "tests/bank/test_verify.py",
    ("try", 0): "tests/authoring/test_try.py",
    ("site", 0): "tests/site/test_site.py",
    ("teach", 0): "tests/e2e_browser/test_teaching.py",
}


class Stage:
    """The tiny course and its state for one scene."""

    def __init__(self, course: Course, hand_in: Callable[..., Path], home: Path) -> None:
        self.course, self.hand_in, self.home = course, hand_in, home
        self.open = ExitStack()  # resources that a scene needs until the command has finished

    @property
    def week(self) -> Week:
        return self.course.weeks[0]

    def handed_in(self, student: str) -> Path:
        notebook = Workspace(self.course).released(self.week) / f"{WEEK}.ipynb"
        text = notebook.read_text("utf-8")
        return self.hand_in(student, {"doubling.py": SOLUTION, notebook.name: text})

    def collected(self, *students: str) -> None:
        for student in students:
            self.handed_in(student)
        collect(self.course, self.week)

    def graded(self, *students: str) -> None:
        self.collected(*students)
        record(self.course, self.week, report(*(graded(s, 2, 1) for s in students)))

    def change(self, name: str, before: str, after: str) -> None:
        path = self.course.root / name
        text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after), "utf-8")

    def file(self, name: str, text: str) -> str:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return str(path)


Scene = Callable[[Stage], list[str]]
SCENES: dict[tuple[str, int], Scene] = {}


def scene(command: str, code: int) -> Callable[[Scene], Scene]:
    def known(play: Scene) -> Scene:
        SCENES[command, code] = play
        return play

    return known


def in_the_week(stage: Stage) -> None:
    os.chdir(stage.course.exercise_folder(stage.week))


@scene("check", 0)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["check", "double"]


@scene("check", 1)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    stage.change(f"exercises/{WEEK}/doubling.py", "def double(x", "def double(x x")
    return ["check"]


def nowhere(*arguments: str) -> Scene:
    def play(stage: Stage) -> list[str]:
        stage.home.mkdir(exist_ok=True)
        os.chdir(stage.home)
        return [*arguments]

    return play


for command in ("check", "watch", "progress", "demo", "submit"):
    SCENES[command, 2] = nowhere(command)


@scene("hint", 0)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["hint", "double"]


@scene("hint", 1)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    run(["hint", "double"])
    return ["hint", "double"]


@scene("hint", 2)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["hint", "treble"]


@scene("progress", 0)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["progress"]


@scene("reset", 0)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["reset", "double"]


@scene("reset", 2)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["reset"]


@scene("solution", 0)
def _(stage: Stage) -> list[str]:
    run(["release", WEEK, "--solutions"])
    released = Workspace(stage.course).root / "release" / f"{WEEK}-solutions"
    in_the_week(stage)
    return ["solution", "double", "--from", str(released)]


@scene("solution", 2)
def _(stage: Stage) -> list[str]:
    in_the_week(stage)
    return ["solution", "double"]


@scene("site", 2)
def _(stage: Stage) -> list[str]:
    return ["site", "--at", "soon"]


@scene("teach", 1)
def _(stage: Stage) -> list[str]:
    stage.open.enter_context(patch.dict(os.environ, PATH=str(stage.home)))  # no Chromium
    return ["teach"]


@scene("teach", 2)
def _(stage: Stage) -> list[str]:
    return ["teach", "--question", "nothing"]


@scene("release", 0)
def _(stage: Stage) -> list[str]:
    stage.change("course.yaml", "due: 2020", "due: 2090")
    return ["release", WEEK, "--unproven"]


@scene("release", 1)
def _(stage: Stage) -> list[str]:
    return ["release", WEEK, "--unproven"]


@scene("release", 2)
def _(stage: Stage) -> list[str]:
    stage.change("course.yaml", "release: 2020", "release: 2080")
    stage.change("course.yaml", "due: 2020", "due: 2090")
    return ["release", WEEK, "--unproven"]


@scene("collect", 0)
def _(stage: Stage) -> list[str]:
    stage.handed_in(ME)
    return ["collect", WEEK]


@scene("collect", 1)
def _(stage: Stage) -> list[str]:
    stage.handed_in("eve")
    return ["collect", WEEK]


@scene("collect", 2)
def _(stage: Stage) -> list[str]:
    shutil.rmtree(Workspace(stage.course).exchange)
    return ["collect", WEEK]


@scene("grade", 0)
def _(stage: Stage) -> list[str]:
    stage.collected(ME)
    return ["grade", WEEK, "--device", "cpu"]


@scene("grade", 1)
def _(stage: Stage) -> list[str]:
    ada = stage.file("ada/doubling.py", SOLUTION)
    return ["grade", WEEK, ada, stage.file("bob/doubling.py", ""), "--device", "cpu"]


@scene("grade", 2)
def _(stage: Stage) -> list[str]:
    stage.hand_in("ada", {"dubbing.py": "x = 1\n"})
    collect(stage.course, stage.week)
    return ["grade", WEEK, "--device", "cpu"]


@scene("feedback", 0)
def _(stage: Stage) -> list[str]:
    stage.graded(ME)
    return ["feedback", WEEK]


@scene("feedback", 1)
def _(stage: Stage) -> list[str]:
    (stage.handed_in(ME) / "submission_secret.txt").unlink()
    collect(stage.course, stage.week)
    record(stage.course, stage.week, report(graded(ME, 2, 1)))
    return ["feedback", WEEK]


@scene("feedback", 2)
def _(stage: Stage) -> list[str]:
    stage.collected(ME)
    return ["feedback", WEEK]


@scene("status", 0)
def _(stage: Stage) -> list[str]:
    stage.graded(ME)
    return ["status"]


@scene("status", 1)
def _(stage: Stage) -> list[str]:
    stage.collected(ME)
    record(stage.course, stage.week, report(REFUSED))
    return ["status"]


@scene("status", 2)
def _(stage: Stage) -> list[str]:
    (Workspace(stage.course).root / "gradebook.db").write_text("no database at all " * 60)
    return ["status"]


@scene("report", 0)
def _(stage: Stage) -> list[str]:
    stage.graded(ME)
    return ["report", WEEK, "--out", str(stage.course.root / "report.html")]


@scene("report", 1)
def _(stage: Stage) -> list[str]:
    stage.graded("eve")
    return ["report", WEEK, "--out", str(stage.course.root / "report.html")]


@scene("report", 2)
def _(stage: Stage) -> list[str]:
    return ["report", WEEK]


@scene("export", 0)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    return ["export", WEEK]


@scene("export", 1)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    roster = stage.file("roster.csv", "Student,ID,SIS Login ID,Section\nBob,1,bob,A\n")
    return ["export", WEEK, "--format", "canvas", "--roster", roster]


@scene("export", 2)
def _(stage: Stage) -> list[str]:
    return ["export", WEEK]


@scene("marks", 0)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    return ["marks", WEEK, "--out", stage.file("sheet.csv", "")]


@scene("marks", 1)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    code = code_of(stage.course, stage.week, "ada")
    head = "code,question,mark\n"
    run(["marks", WEEK, "--from", stage.file("a", f"{head}{code},why,3\n"), "--marker", "bea"])
    second = stage.file("b", f"{head}{code},why,1\n")
    return ["marks", WEEK, "--from", second, "--marker", "cy"]


@scene("marks", 2)
def _(stage: Stage) -> list[str]:
    return ["marks", WEEK, "--out", stage.file("sheet.csv", "")]


@scene("requests", 0)
def _(stage: Stage) -> list[str]:
    return ["requests", WEEK]


@scene("requests", 1)
def _(stage: Stage) -> list[str]:
    (stage.handed_in(ME) / REQUEST).write_text("Please look again.")
    collect(stage.course, stage.week)
    return ["requests", WEEK]


@scene("requests", 2)
def _(stage: Stage) -> list[str]:
    return ["requests", WEEK, "--answer", "ada", "--text", "no"]


def canvas(stage: Stage, student: str) -> list[str]:
    """Start a Canvas with ada, bob and carl; one student of our course is graded."""
    server = stage.open.enter_context(serving(CanvasServer()))
    token = stage.course.state / "canvas-token"
    token.touch(mode=0o600)
    token.write_text(TOKEN)
    stage.change(
        "course.yaml", "    title: Doubling\n", "    title: Doubling\n    lms: {canvas_id: 4411}\n"
    )
    stage.change("course.yaml", "weeks:\n", f"canvas: {{url: '{server.url}', course: 7}}\nweeks:\n")
    stage.graded(student)
    return ["push", WEEK, "--canvas"]


@scene("push", 0)
def _(stage: Stage) -> list[str]:
    return canvas(stage, "ada")


@scene("push", 1)
def _(stage: Stage) -> list[str]:
    return canvas(stage, "mallory")


@scene("push", 2)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    return ["push", WEEK, "--canvas"]


@scene("roster", 0)
def _(stage: Stage) -> list[str]:
    return ["roster", stage.file("roster.csv", "Student,ID,SIS Login ID,Section\nBob,1,bob,A\n")]


@scene("roster", 2)
def _(stage: Stage) -> list[str]:
    return ["roster", stage.file("roster.csv", "Colour,Shape\nred,round\n")]


@scene("regrade", 0)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    return ["regrade", WEEK, "--preview", "--jobs", "1"]


@scene("regrade", 2)
def _(stage: Stage) -> list[str]:
    return ["regrade", WEEK, "--preview"]


@scene("restore", 0)
def _(stage: Stage) -> list[str]:
    stage.graded("ada")
    return ["restore", WEEK, "ada"]


@scene("restore", 2)
def _(stage: Stage) -> list[str]:
    return ["restore", WEEK, "ada"]


@scene("serve", 0)
def _(stage: Stage) -> list[str]:
    run(["roster", stage.file("class.csv", "student,name\nada,Ada\n")])
    run(["serve", "--tokens", str(stage.home / "tokens.csv")])
    return ["serve", "--check", "--port", "18734"]


@scene("serve", 1)
def _(stage: Stage) -> list[str]:
    return ["serve", "--check", "--port", "18735"]


@scene("serve", 2)
def _(stage: Stage) -> list[str]:
    return ["serve", "--sandbox", "none"]


@scene("doctor", 0)
def _(stage: Stage) -> list[str]:
    return ["doctor"]


@scene("doctor", 1)
def _(stage: Stage) -> list[str]:
    stage.change("course.yaml", "points: 2", "points: two")
    return ["doctor"]


@scene("build", 0)
def _(stage: Stage) -> list[str]:
    return ["build", "--check"]


@scene("build", 1)
def _(stage: Stage) -> list[str]:
    stage.change(f"exercises/{WEEK}/doubling.py", "Half of", "A half of")
    return ["build", "--check"]


@scene("build", 2)
def _(stage: Stage) -> list[str]:
    stage.change(f"solutions/{WEEK}/doubling.py", "END SOLUTION", "END")
    return ["build"]


@scene("verify", 1)
def _(stage: Stage) -> list[str]:
    return ["verify", WEEK, "--quick", "--device", "cpu", "--jobs", "1"]  # `squares` is not sharp


@scene("try", 1)
def _(stage: Stage) -> list[str]:
    handed_in = stage.handed_in("ada")
    next(handed_in.glob("*.py")).unlink()
    return ["try", WEEK, str(handed_in), "--quick", "--device", "cpu"]


@scene("try", 2)
def _(stage: Stage) -> list[str]:
    return ["try", WEEK, "believes_in_nothing", "--quick"]


@scene("verify", 2)
def _(stage: Stage) -> list[str]:
    return ["verify", "noweek"]


@scene("new", 0)
def _(stage: Stage) -> list[str]:
    return ["new", "week02_pooling"]


@scene("new", 2)
def _(stage: Stage) -> list[str]:
    return ["new", "pooling"]


def table() -> dict[str, list[str]]:
    """Return a dictionary from each command to its three cells."""
    text = (PROJECT / "docs" / "exit-codes.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    return {command: cells.split(" | ") for command, cells in rows}


CELLS = [(name, code) for name, row in table().items() for code in range(3) if row[code] != "-"]


def test_every_command_is_in_the_table() -> None:
    assert run(["--help"]) == 0  # registers them
    known = {c.name or getattr(c.callback, "__name__", "") for c in app.registered_commands}
    assert known == set(table())


def test_every_cell_is_played_and_no_other() -> None:
    assert sorted({*SCENES, *ELSEWHERE}) == sorted(CELLS)
    assert all((PROJECT / path).is_file() for path in ELSEWHERE.values())


@pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.parametrize(("command", "code"), sorted(SCENES), ids=lambda part: str(part))
def test_a_command_ends_with_the_code_that_the_table_says(
    course: Course,
    hand_in: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
    code: int,
) -> None:
    monkeypatch.chdir(course.root)
    stage = Stage(course, hand_in, tmp_path / "somewhere")
    with stage.open:
        arguments = SCENES[command, code](stage)
        assert arguments[0] == command
        ended = run(arguments)
    said = capfd.readouterr()
    assert ended == code, said.out + said.err
    if code == 2:
        assert len(said.err.strip().splitlines()) == 1, said.err


def test_a_mistake_in_the_registry_is_one_line_and_2(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (course.root / "course.yaml").write_text(REGISTRY.replace("doubling.py", "dubling.py"))
    monkeypatch.chdir(course.root)
    assert run(["grade", WEEK]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "autograder: course.yaml: weeks[0].module: "
        f"solutions/{WEEK}/dubling.py does not exist: did you mean 'doubling.py'? (line 7)"
    )
