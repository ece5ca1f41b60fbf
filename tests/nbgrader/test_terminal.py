"""Test that untrusted text stays inert in the instructor's terminal and spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder import cli
from autograder.model.course import Course, Week
from autograder.model.message_text import visible
from autograder.model.report.schema import SubmissionReport
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.submissions import collected
from autograder.nbgrader.workspace import Workspace
from autograder.terminal.streams import guard_streams
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report, write

# nbgrader leaves timestamp.txt open when it releases feedback.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
CLEARS, HIDES = "\x1b[2J\x1b]0;owned\x07", "\x1b[8mhidden\x1b[0m"
NAMES = (
    f"{CLEARS}eve",
    f"mal{HIDES}lory",
    "tru\u202edy",
    "c1\x9b31moscar",
    "[red]rich[link=http:x]here",
    "=1+1",
    "re\rturns\nlines",
)
TEXT = f"{CLEARS}{HIDES}\u202e\x9b1m\u2028\u200b\x7f\r"
Command = Callable[..., str]


@pytest.fixture
def command(
    course: Course, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Command:
    """Run a command as `autograder` does and return the bytes of both streams."""
    monkeypatch.chdir(course.root)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments: str | Path) -> str:
        capfdbinary.readouterr()
        with monkeypatch.context() as inside:
            inside.setattr(sys, "argv", ["autograder", *map(str, arguments)])
            inside.setattr(sys, "stdout", sys.stdout)  # restored afterwards
            inside.setattr(sys, "stderr", sys.stderr)
            guard_streams()
            cli.run()
        said = capfdbinary.readouterr()
        return (said.out + said.err).decode("utf-8")

    return command


@pytest.fixture
def klass(released: Workspace, course: Course, week: Week, notebook: str) -> Workspace:
    """Record a class with hostile names; `collect` would skip such names in the exchange."""
    for name in NAMES:
        files: dict[str, str | bytes] = {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook}
        write(released.submitted(name, week), files)
    reports = [graded(name, 2, 0.5) for name in NAMES[:-1]]
    refused = SubmissionReport(NAMES[-1], "refused", 0.0, 3.0, 0.0, f"There is a {TEXT} in it.")
    collected(course, week)
    record(course, week, report(*reports, refused))
    return released


def unseen(text: str) -> set[str]:
    """Return the control characters and invisible characters in a text."""
    return {c for c in text if visible(c, keep="\n\t") != c}


def test_collecting_shows_names_and_obeys_none(
    hand_in: Callable[..., Path], notebook: str, command: Command
) -> None:
    for name in (*NAMES, "ada"):
        hand_in(name, {"doubling.py": SOLUTION, f"{HIDES}.ipynb": notebook, f"{CLEARS}x": ""})
    said = command("collect", "1")
    assert "ada: the notebook had a different name" in said
    assert unseen(said) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("status", "1"),
        ("status", "--json"),
        ("report", "1", "--names"),
        ("export", "1"),
        ("export", "1", "--format", "json"),
        ("export", "1", "--out", "-"),
        ("feedback", "1", "--unmarked"),
        ("export", "1", "--roster", "students.csv"),
    ],
    ids=" ".join,
)
def test_a_command_shows_what_strangers_wrote_and_obeys_nothing(
    klass: Workspace, course: Course, command: Command, arguments: tuple[str, ...]
) -> None:
    (course.root / "students.csv").write_text(f'student,name\n"{NAMES[0]}","{TEXT}"\n', "utf-8")
    said = command(*arguments)
    assert said
    assert unseen(said) == set()


def test_the_scores_of_a_batch_are_shown_and_obey_nothing(
    course: Course, command: Command, tmp_path: Path
) -> None:
    paths = []
    for name in NAMES:
        path = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{CLEARS}/other.py", "")
        paths.append(path)
    bad = tmp_path / "no\udcfftext"
    bad.mkdir()
    said = command("grade", "1", *paths, bad)
    assert "mal\N{REPLACEMENT CHARACTER}[8mhidden" in said
    assert "[red]rich[link=http:x]here" in said
    assert "no?text" in said
    assert unseen(said) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("grade", "1", TEXT),
        ("grade", TEXT),
        ("export", "1", "--format", TEXT),
        ("export", "1", "--roster", TEXT),
        ("collect", "1", "--zip", TEXT, "--roster", "students.csv"),
        ("roster", "students.csv"),
        ("roster", TEXT),
        ("report", "1", "--from", TEXT),
        (TEXT,),
        ("grade", f"--{TEXT}"),
    ],
    ids=range(10),
)
def test_an_error_shows_what_is_wrong_and_obeys_nothing(
    course: Course, command: Command, arguments: tuple[str, ...]
) -> None:
    (course.root / "students.csv").write_text(f'student\n"a/{TEXT}"\n', encoding="utf-8")
    said = command(*arguments)
    assert "\\x1b[2J" in said
    assert unseen(said) == set()


def test_a_bulk_download_is_told_of_and_obeys_nothing(
    released: Workspace, course: Course, command: Command
) -> None:
    with zipfile.ZipFile(course.root / "all.zip", "w") as archive:
        archive.writestr(f"Ada Lovelace_1_assignsubmission_file_/{CLEARS}doubling.py", "")
        archive.writestr(f"x{HIDES}/doubling.py", "")
    moodle = "Identifier,Full name,Email address,Grade\nParticipant 1,Ada Lovelace,ada@x.org,\n"
    (course.root / "roster.csv").write_text(moodle, encoding="utf-8")
    said = command("collect", "1", "--zip", "all.zip", "--roster", "roster.csv")
    assert "UNMATCHED" in said
    assert unseen(said) == set()


def test_nbgraders_own_export_holds_no_formula(klass: Workspace, course: Course) -> None:
    from nbgrader.apps import ExportApp

    target = course.root / "grades.csv"
    app = ExportApp(config=klass.config())
    app.initialize([f"--to={target}"])
    app.start()
    rows = list(csv.DictReader(io.StringIO(target.read_text("utf-8"), newline="")))
    shown = {r["student"] for r in rows}
    assert shown <= {"'=1+1", *map(visible, NAMES)}
    assert "'=1+1" in shown
    assert 2.5 in {float(r[WEEK]) for r in rows}


def test_a_report_as_json_says_the_same_with_nothing_unseen() -> None:
    from autograder.model.report.schema import from_json, to_json

    made = report(SubmissionReport(TEXT, "refused", 0.0, 3.0, 0.0, f"{TEXT}\U000e0041"))
    text = to_json(made).decode()
    assert unseen(text) == set()
    assert from_json(text) == made
    assert json.loads(text)["submissions"][0]["name"] == TEXT
