"""Test which submission counts, the report of a lower score, and how to restore the score."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week, load
from autograder.model.report.scoring import refused
from autograder.nbgrader.autograde.recorder import record, restore
from autograder.nbgrader.collect.history import read_history
from autograder.nbgrader.collect.submissions import accept
from autograder.nbgrader.gradebook.effective_results import lower, results
from autograder.nbgrader.status import WeekStatus, status
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report
from tests.standings import standings

NOTEBOOK = f"{WEEK}.ipynb"
FIRST, SECOND, THIRD = (f"2020-01-{day} 12:00:00.000000 UTC" for day in (10, 11, 12))
LATE = "2020-01-14 12:00:00.000000 UTC"  # a started day after the due date
Submit = Callable[..., list[str]]


@pytest.fixture
def submit(course: Course, week: Week, released: Workspace, notebook: str) -> Submit:
    """Accept ada's files, record these points and return the message."""

    def submit(time: str, double: float, halve: float, answer: str = "", **files: str) -> list[str]:
        now = load(course.root)
        module = f"{SOLUTION}\nMADE = {time!r}\n"
        sent = {"doubling.py": module, NOTEBOOK: notebook, **files}
        if answer:
            sent[NOTEBOOK] = notebook.replace("*Your answer here.*", answer)
        encoded = {name: text.encode() for name, text in sent.items() if text}
        done = accept(now, week, "ada", encoded, time, "exchange")
        said = record(now, week, report(graded("ada", double, halve))).lines()
        return [*done.remarks("ada"), *said]

    return submit


@pytest.fixture
def best(course: Course, released: Workspace) -> None:
    path = course.root / "course.yaml"
    path.write_text(path.read_text("utf-8") + "counts: best\nlate: {percent: 50}\n", "utf-8")


def score(course: Course) -> float:
    (one,) = standings(course, course.weeks[0])
    return one.score


def now(course: Course) -> WeekStatus:
    (found,) = status(load(course.root))
    return found


def mark(course: Course, points: float) -> None:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def marked(course: Course) -> tuple[float | None, bool]:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        return grade.manual_score, bool(grade.needs_manual_grade)


def test_the_latest_counts_and_a_lower_score_is_reported(
    submit: Submit, course: Course, week: Week
) -> None:
    submit(FIRST, 2, 1)
    said = submit(SECOND, 1, 0)
    line = (
        "1 points for the submission of 2020-01-11 13:00 CET, 3 for that of 2020-01-10 13:00 CET; "
        "the newest one counts"
    )
    assert f"LOWER  ada: {line}" in said
    assert (score(course), now(course).lower) == (1, {"ada": line})


@pytest.mark.usefixtures("best")
def test_the_best_counts_where_the_course_says_so(
    submit: Submit, course: Course, week: Week
) -> None:
    submit(FIRST, 2, 0)
    said = submit(SECOND, 1, 0)
    assert any(line.startswith("LOWER  ada: 1 points") for line in said)
    assert (score(course), now(course).lower, now(course).waiting) == (2, {}, [])
    submit(THIRD, 2, 1)
    assert score(course) == 3
    found = results(load(course.root), week, "ada")
    assert [(r.score, r.counts) for r in found] == [(2, False), (1, False), (3, True)]


@pytest.mark.usefixtures("best")
def test_of_equals_the_newest_counts_with_its_new_answers(
    submit: Submit, course: Course, week: Week
) -> None:
    submit(FIRST, 2, 1)
    submit(SECOND, 2, 1, answer="Mine.")
    assert "Mine." in (Workspace(course).autograded("ada", week) / NOTEBOOK).read_text("utf-8")
    mark(course, 2.5)
    submit(THIRD, 2, 1, answer="Another.")
    assert marked(course) == (2.5, True)
    said = submit(LATE, 2, 1, answer="A late one.")
    assert any(line.endswith("of 2020-01-12 13:00 CET; the better one counts") for line in said)


@pytest.mark.usefixtures("best")
def test_best_is_what_is_left_after_deductions_for_late_work(
    submit: Submit, course: Course
) -> None:
    submit(FIRST, 2, 0)
    submit(LATE, 2, 1)
    assert score(course) == 2


@pytest.mark.usefixtures("best")
def test_a_course_that_changes_to_best_goes_back_to_the_best(
    submit: Submit, course: Course, week: Week
) -> None:
    path = course.root / "course.yaml"
    rules = path.read_text("utf-8")
    path.write_text(rules.replace("counts: best", "counts: latest"), "utf-8")
    submit(FIRST, 2, 1)
    submit(SECOND, 1, 0)
    path.write_text(rules, "utf-8")
    record(load(course.root), week, report(graded("ada", 1, 0)))
    assert score(course) == 3


def test_what_cannot_be_graded_replaces_nothing(submit: Submit, course: Course, week: Week) -> None:
    submit(FIRST, 2, 1)
    said = submit(SECOND, 2, 1, **{"doubling.py": "def double(x:\n"})
    assert said[0].startswith("ada: not accepted, and the earlier submission stays: doubling.py")
    assert "doubling.py does not run: line 1" in now(course).not_accepted["ada"]
    assert (score(course), now(course).ungraded) == (3, [])


def test_the_same_parts_again_change_nothing_not_even_the_time(
    submit: Submit, course: Course, week: Week
) -> None:
    submit(FIRST, 2, 1)
    submit(LATE, 2, 1, **{"doubling.py": f"{SOLUTION}\nMADE = {FIRST!r}\n"})
    assert now(course).late == {}
    assert len(read_history(course, week, "ada").entries) == 1


def test_a_mark_stays_when_its_answer_changes_and_asks_to_be_looked_at(
    submit: Submit, course: Course
) -> None:
    submit(FIRST, 2, 1, answer="Mine.")
    mark(course, 2.5)
    submit(SECOND, 2, 1, answer="Another.")
    assert (marked(course), now(course).changed) == ((2.5, True), {"ada": ["why"]})


def test_a_mark_is_settled_again_when_its_answer_comes_back(submit: Submit, course: Course) -> None:
    submit(FIRST, 2, 1, answer="Mine.")
    mark(course, 2.5)
    submit(SECOND, 2, 1, answer="Another.")
    submit(THIRD, 2, 1, answer="Mine.")
    assert (marked(course), now(course).changed) == ((2.5, False), {})


def test_an_earlier_submission_is_restored_with_its_score_and_marks(
    submit: Submit, course: Course, week: Week, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(course.root)
    submit(FIRST, 2, 1, answer="Mine.")
    mark(course, 2.5)
    submit(SECOND, 1, 0, answer="Another.")
    capsys.readouterr()
    assert run(["restore", WEEK, "ada"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split()[:4] == ["1", "2020-01-10", "13:00", "CET"]
    assert listed[1].split()[:2] == ["*", "2"]
    assert run(["restore", WEEK, "ada", "--to", "1"]) == 0
    assert (score(course), marked(course)) == (5.5, (2.5, False))
    assert lower(results(course, week, "ada")).best.counts  # type: ignore[union-attr]  # there is one
    submit(THIRD, 0, 1)
    assert score(course) == 3.5  # the answer is preserved, and the new submission counts


@pytest.mark.parametrize(
    ("student", "to", "message"),
    [
        ("adda", None, "no submission of 'adda' was collected: did you mean 'ada'?"),
        ("ada", "7", "--to 7 is not the number of a submission"),
        ("ada", "3", "submission 3 cannot be graded: doubling.py does not run: line 1"),
    ],
)
def test_what_cannot_be_restored_is_said(
    submit: Submit, course: Course, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], student: str, to: str | None, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(course.root)
    submit(FIRST, 2, 1)
    submit(SECOND, 1, 0)
    submit(THIRD, 1, 0, **{"doubling.py": "def double(x:\n"})
    assert run(["restore", WEEK, student, *(["--to", to] if to else [])]) == 2
    assert message in capsys.readouterr().err


def test_a_module_that_cannot_be_imported_replaces_nothing_and_its_answers_are_kept(
    submit: Submit, course: Course, week: Week, notebook: str
) -> None:
    submit(FIRST, 2, 1, answer="Mine.")
    text = notebook.replace("*Your answer here.*", "New.")
    files = {"doubling.py": b"1 / 0\n", NOTEBOOK: text.encode()}
    accept(course, week, "ada", files, SECOND, "exchange")
    failed = refused("ada", week, "doubling.py, line 1: division by zero")
    said = record(course, week, report(failed)).lines()
    assert "LOOK  ada: not recorded: doubling.py, line 1: division by zero" in said
    folder = Workspace(course).submitted("ada", week)
    assert "New." in (folder / NOTEBOOK).read_text("utf-8")
    assert b"1 / 0" not in (folder / "doubling.py").read_bytes()
    assert (score(course), now(course).ungraded) == (3, [])


def test_a_restored_submission_stays_when_the_next_one_cannot_be_graded(
    submit: Submit, course: Course, week: Week
) -> None:
    submit(FIRST, 1, 0)
    submit(SECOND, 2, 1)
    restore(course, week, "ada", read_history(course, week, "ada").entries[0])
    accept(course, week, "ada", {"doubling.py": b"1 / 0\n"}, THIRD, "exchange")
    record(course, week, report(refused("ada", week, "doubling.py, line 1: division by zero")))
    history = read_history(course, week, "ada")
    assert (score(course), history.current, history.restored) == (1, 1, True)
