"""Test that `status` shows the state of each week and agrees with nbgrader without importing it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder.cli import run
from autograder.cli.instructor import overview
from autograder.model.course import Course, Week
from autograder.model.errors import NbgraderError
from autograder.model.report.schema import Ending, SubmissionReport
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.gradebook.database import read_gradebook
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.status import WeekStatus, status
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK, graded, report
from tests.standings import standings

# nbgrader leaves timestamp.txt open when it releases feedback.
leaves_files_open = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
LATE = "2020-01-15 12:00:00.000000 UTC"
REFUSED = SubmissionReport("eve", Ending.REFUSED, 0.0, 3.0, 0.0, "doubling.py is missing.")


@pytest.fixture
def klass(course: Course, week: Week, hand_in: Callable[..., Path], notebook: str) -> Course:
    """Grade ada (on time), bob (late) and eve (refused); carl does not submit."""
    answer = notebook.replace("*Your answer here.*", "Because.")
    for name in ("ada", "bob", "eve"):
        files = {"doubling.py": SOLUTION, f"{WEEK}.ipynb": answer if name == "ada" else notebook}
        hand_in(name, files, *([LATE] if name == "bob" else []))
    collect(course, week)
    record(course, week, report(graded("ada", 2, 1), graded("bob", 1, 0), REFUSED))
    with open_gradebook(course) as gradebook:
        gradebook.add_student("carl")
    return course


def only(course: Course) -> WeekStatus:
    (found,) = status(course)
    return found


def test_before_anything_was_released(course: Course) -> None:
    found = only(course)
    assert (found.released, found.enrolled, found.handed_in) == (False, 0, [])


def test_who_handed_in_and_who_did_not(klass: Course) -> None:
    found = only(klass)
    assert (found.released, found.enrolled) == (True, 4)
    assert found.handed_in == found.graded == ["ada", "bob", "eve"]
    assert (found.missing, found.ungraded, found.waiting) == (["carl"], [], [])


def test_who_is_late(klass: Course) -> None:
    assert only(klass).late == {"bob": "1 day 13 h"}


def test_an_extension_of_the_gradebook_is_not_late(klass: Course) -> None:
    with open_gradebook(klass) as gradebook:
        gradebook.grant_extension(WEEK, "bob", days=3)
    assert only(klass).late == {}


def test_what_waits_for_a_person(klass: Course) -> None:
    assert only(klass).to_mark == {"ada": 1}


def test_what_is_odd(klass: Course) -> None:
    found = only(klass)
    assert set(found.foreign) == {"ada", "bob", "eve"}  # the user of this test owns all files
    assert found.refused == {"eve": "doubling.py is missing."}


def test_the_gradebook_is_read_as_nbgrader_reads_it(klass: Course, week: Week) -> None:
    with open_gradebook(klass) as gradebook:
        grade = gradebook.find_grade("double", WEEK, WEEK, "bob")
        grade.manual_score, grade.extra_credit = 1.5, 0.25
        gradebook.db.commit()
    students, entries = read_gradebook(klass)
    assert students == ["ada", "bob", "carl", "eve"]
    assert {e.student: (e.score, e.to_mark) for e in entries} == {
        s.student: (s.score, s.to_mark) for s in standings(klass, week)
    }


def test_a_server_is_read_like_a_file(klass: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_gradebook(klass)
    url = Workspace(klass).db_url.replace("sqlite:", "sqlite+pysqlite:")
    monkeypatch.setattr(Workspace, "db_url", url)
    assert read_gradebook(klass) == read


KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # changed pages go to the file before the commit
connection.execute("BEGIN")
connection.execute("DELETE FROM submitted_assignment")
connection.execute("CREATE TABLE filler (text)")
connection.executemany("INSERT INTO filler VALUES (?)", [("x" * 4000,)] * 100)
os._exit(1)
"""


def test_a_reader_undoes_what_a_killed_process_left_in_the_gradebook(klass: Course) -> None:
    read, path = read_gradebook(klass), Workspace(klass).root / "gradebook.db"
    subprocess.run([sys.executable, "-c", KILLED, path])
    assert path.with_name("gradebook.db-journal").stat().st_size > 0
    assert read_gradebook(klass) == read


def test_a_gradebook_that_cannot_be_read_is_named(course: Course, workspace: Workspace) -> None:
    workspace.root.mkdir()
    (workspace.root / "gradebook.db").write_text("no database, but long enough to be one" * 9)
    with pytest.raises(NbgraderError, match=r"gradebook.db: the gradebook cannot be read"):
        status(course)


@leaves_files_open
def test_feedback_is_returned_until_the_score_is_another(klass: Course, week: Week) -> None:
    assert only(klass).returned == []
    return_feedback(klass, week)
    assert only(klass).returned == ["ada", "bob", "eve"]
    record(klass, week, report(graded("bob", 2, 0)))
    found = only(klass)
    assert (found.returned, found.stale) == (["ada", "eve"], ["bob"])


def test_what_is_handed_in_again_waits_and_then_shows_both_results(
    klass: Course,
    week: Week,
    hand_in: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(klass.root)
    hand_in("ada", {"doubling.py": f"{STUB}\nTRIED = 1\n"}, "2020-01-11 12:00:00.000000 UTC")
    assert only(klass).waiting == ["ada"]
    collect(klass, week)
    assert (only(klass).waiting, only(klass).ungraded) == ([], ["ada"])
    record(klass, week, report(graded("ada", 0, 0)))
    found = only(klass)
    assert found.ungraded == []
    assert [(r.handed_in[:10], r.score) for r in found.again["ada"]] == [
        ("2020-01-10", 3),
        ("2020-01-11", 0),
    ]
    capsys.readouterr()
    overview.status(week.name)
    said = capsys.readouterr().out
    assert "submitted 2020-01-11 13:00 CET: 0 of 3" in said
    assert "the newest submission scored lower than an earlier one" in said
    assert "STUDENT` lists them: 1 (ada)" in said


def test_it_fits_a_terminal_and_imports_neither_torch_nor_nbgrader(klass: Course) -> None:
    code = (
        "import sys; from autograder.cli import main\n"
        "sys.argv = ['autograder', 'status']\n"
        "try: main()\n"
        "finally: print(sorted({'torch', 'nbgrader', 'sqlalchemy', 'numpy'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=klass.root,
        env={"COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "[]\n")  # 1: needs attention
    table = done.stdout.split("LOOK")[0].splitlines()[:2]
    assert table[1].split()[:2] == [WEEK, "yes"]
    assert table[1].split()[4:] == ["3/4", "1", "3", "1", "0", "3"]
    assert max(map(len, table)) <= 80
    assert "\x1b" not in done.stdout


def test_json_holds_every_week(
    klass: Course, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(klass.root)
    overview.status(as_json=True)
    (found,) = msgspec.json.decode(capsysbinary.readouterr().out, type=list[WeekStatus])
    assert found == only(klass)


@leaves_files_open
def test_what_is_left_to_do_is_said_once(
    klass: Course,
    week: Week,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(klass.root)
    to_mark = "written answers to mark in the service, in Formgrader or with `autograder marks "

    def said() -> str:
        capsys.readouterr()
        overview.status(week.name)
        return capsys.readouterr().out

    before = said()
    assert f"{to_mark}{WEEK}`: 1 (ada)" in before
    assert "feedback to release" not in before
    assert before.count("doubling.py is missing") == 1
    assert "due Monday 13 January 2020, 23:59 CET" in before
    with open_gradebook(klass) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        gradebook.db.commit()
    marked = said()
    assert to_mark not in marked
    assert f"feedback to release with `autograder feedback {WEEK}`: 3 (ada, bob, eve)" in marked
    return_feedback(klass, week)
    assert "feedback to release" not in said()


def test_the_doctor_reports_probable_slips_in_the_registry(
    klass: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(klass.root)
    (klass.root / "exercises" / "week02_forgotten").mkdir()
    overview.doctor()
    assert "--   exercises/week02_forgotten is not a week of the course" in capsys.readouterr().out


def test_grades_have_the_names_of_the_class_list(
    klass: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(klass.root)
    (klass.root / "class.csv").write_text("student,name,email\nada,Ada Lovelace,ada@x.org\n")
    assert run(["roster", "class.csv"]) == 0
    assert run(["export", WEEK, "--unmarked"]) == 0
    assert "ada,Ada Lovelace,ada@x.org,3" in capsys.readouterr().out.splitlines()
