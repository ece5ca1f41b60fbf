"""Test that unmarked work does not count as 0, and missing work does so only on request."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
WAITS = (
    f"autograder: {WEEK}: 1 answer by 1 student is not marked yet and would count 0: mark them "
    "in the service or in Formgrader (`cd nbgrader && jupyter lab`), or use --unmarked"
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def klass(
    course: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Course:
    """Grade ada, who wrote an answer, and bob, who did not; carl and dora do not submit."""
    answer = notebook.replace("*Your answer here.*", "Because.")
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": answer})
    hand_in("bob", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week)
    record(course, week, report(graded("ada", 2, 1), graded("bob", 4 / 3, 0)))
    with open_gradebook(course) as gradebook:
        for name in ("carl", "dora"):
            gradebook.add_student(name)
    monkeypatch.chdir(course.root)
    return course


@pytest.fixture
def say(klass: Course, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, output and errors."""

    def say(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(arguments))
        said = capsys.readouterr()
        assert isinstance(code, int)
        return code, said.out, said.err

    return say


def grades(text: str) -> dict[str, str]:
    return {row["student"]: row[WEEK] for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize("command", ["export", "feedback"])
def test_an_answer_that_nobody_has_read_is_not_presented_as_0(say: Run, command: str) -> None:
    code, _, complaint = say(command, WEEK)
    assert (code, complaint.strip()) == (2, WAITS)


@pytest.mark.parametrize("command", ["export", "feedback"])
def test_it_is_on_request(say: Run, command: str) -> None:
    assert say(command, WEEK, "--unmarked")[0] == 0


def test_once_it_is_marked_nobody_has_to_ask(say: Run, klass: Course) -> None:
    with open_gradebook(klass) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.335, False
        gradebook.db.commit()
    code, out, _ = say("export", WEEK)
    assert (code, grades(out)) == (0, {"ada": "5.34", "bob": "1.33"})


def test_feedback_for_one_student_leaves_the_others_alone(say: Run, klass: Course) -> None:
    assert say("feedback", WEEK, "--student", "bob")[0] == 0
    assert Workspace(klass).students("feedback", klass.weeks[0]) == ["bob"]


def test_feedback_for_nobody_known_names_whom_it_may_mean(say: Run) -> None:
    code, _, complaint = say("feedback", WEEK, "--student", "bbo")
    assert code == 2
    assert complaint.strip() == (f"autograder: bbo was not graded in {WEEK}: did you mean 'bob'?")


def test_what_was_not_handed_in_is_blank(say: Run) -> None:
    assert set(grades(say("export", WEEK, "--unmarked")[1])) == {"ada", "bob"}


def test_what_was_not_handed_in_is_0_on_request(say: Run) -> None:
    found = grades(say("export", WEEK, "--unmarked", "--missing", "0")[1])
    assert (found["carl"], found["dora"]) == ("0", "0")


def test_who_still_has_time_or_waits_to_be_graded_gets_no_0(
    say: Run, klass: Course, hand_in: Callable[..., Path]
) -> None:
    hand_in("carl", {"doubling.py": SOLUTION})  # not collected yet
    registry = klass.root / "course.yaml"
    more = f"{{student: dora, week: {WEEK}, until: 2090-01-01T00:00:00}}"
    registry.write_text(f"late: {{percent: 10, extensions: [{more}]}}\n" + registry.read_text())
    found = grades(say("export", WEEK, "--unmarked", "--missing", "0")[1])
    assert set(found) == {"ada", "bob"}


def test_a_row_of_the_class_list_that_we_never_heard_of_is_missing_too(
    say: Run, klass: Course
) -> None:
    roster = klass.root / "canvas.csv"
    rows = "Ada,1,ada,A\nBob,2,bob,A\nEve,3,eve,A\n"
    roster.write_text(f"Student,ID,SIS Login ID,Section\n{rows}")
    asked = ("export", WEEK, "--unmarked", "--format", "canvas", "--roster", str(roster))
    assert say(*asked)[1].splitlines()[-1].split(",")[4] == ""
    assert say(*asked, "--missing", "0")[1].splitlines()[-1].split(",")[4] == "0"
