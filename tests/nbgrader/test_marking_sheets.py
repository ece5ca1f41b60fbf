"""Test anonymous and double marking on sheets, and regrade requests."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week
from autograder.model.errors import KitError
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.formgrader.marking_sheets import code_of, read_marks, sheet
from autograder.nbgrader.regrade.regrade_log import REQUEST, answer_request, open_requests
from autograder.nbgrader.status import status, to_collect
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
AGAIN = "2020-01-20 12:00:00.000000 UTC"
ASKS = "# softmax\nThe test is wrong about \x1b[31m`double`.\n"


@pytest.fixture
def klass(
    course: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Course:
    """Grade ada and bob, who both wrote an answer."""
    for name in ("ada", "bob"):
        text = "=HYPERLINK(1)" if name == "bob" else "Because it doubles: a<b."
        answer = notebook.replace("*Your answer here.*", text)
        hand_in(name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": answer})
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 2, 1), graded("bob", 1, 0)))
    monkeypatch.chdir(course.root)
    return course


def marked(course: Course, name: str, **marks: str) -> Path:
    """Return the sheet with marks by student."""
    rows = list(csv.DictReader(io.StringIO(sheet(course, course.weeks[0]), newline="")))
    codes = {code_of(course, course.weeks[0], s): s for s in marks}
    for row in rows:
        row["mark"] = marks.get(codes.get(row["code"], ""), "")
        row["comment"] = f"{name} read it" if row["mark"] else ""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    path = course.root / f"{name}.csv"
    path.write_text(out.getvalue())
    return path


def mark_of(course: Course, student: str) -> tuple[float | None, bool]:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, student)
        return grade.manual_score, grade.needs_manual_grade


def test_no_name_is_on_the_sheet_and_no_answer_is_a_formula(klass: Course, week: Week) -> None:
    text = sheet(klass, week)
    assert "Because it doubles: a< b." in text
    assert "ada" not in text
    assert "bob" not in text
    assert "'=HYPERLINK" in text


def test_codes_are_the_courses_own_and_another_weeks_are_others(klass: Course, week: Week) -> None:
    assert code_of(klass, week, "ada") == code_of(klass, week, "ada")
    assert code_of(klass, week, "ada") != code_of(klass, week, "bob")


def test_no_code_looks_like_a_number(klass: Course, week: Week) -> None:
    codes = {code_of(klass, week, f"student{n}") for n in range(500)}
    assert len(codes) == 500
    assert [code for code in codes if re.fullmatch(r"[0-9]+(e[0-9]+)?", code)] == []


def test_one_markers_marks_are_entered_with_comments(klass: Course, week: Week) -> None:
    done = read_marks(klass, week, marked(klass, "bea", ada="2,5", bob="1"), "bea")
    assert done.entered == 2
    assert mark_of(klass, "ada") == (2.5, False)
    with open_gradebook(klass) as gradebook:
        assert gradebook.find_comment("why", WEEK, WEEK, "ada").manual_comment == "bea read it"


def test_two_who_are_near_each_other_give_the_mean(klass: Course, week: Week) -> None:
    read_marks(klass, week, marked(klass, "bea", ada="2.5"), "bea")
    read_marks(klass, week, marked(klass, "cy", ada="2"), "cy")
    assert mark_of(klass, "ada") == (2.25, False)


def test_two_who_are_apart_wait_for_a_third_look(
    klass: Course, week: Week, capsys: pytest.CaptureFixture[str]
) -> None:
    read_marks(klass, week, marked(klass, "bea", ada="3", bob="1"), "bea")
    second = marked(klass, "cy", ada="1", bob="1")
    assert run(["marks", WEEK, "--from", str(second), "--marker", "cy"]) == 1
    said = capsys.readouterr().out
    assert "3 and 1" in said
    assert "ada" not in said
    assert mark_of(klass, "ada") == (3.0, True), "a mark is never deleted"
    assert mark_of(klass, "bob") == (1.0, False)


def test_a_mark_of_formgrader_is_left_alone(klass: Course, week: Week) -> None:
    with open_gradebook(klass) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    done = read_marks(klass, week, marked(klass, "bea", ada="3"), "bea")
    assert done.kept == ["ada why"]
    assert mark_of(klass, "ada") == (1.5, False)


def test_a_sheet_marks_only_its_own_answers_as_they_were_when_it_was_written(
    klass: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    read_marks(klass, week, marked(klass, "bea", ada="3"), "bea")
    before = marked(klass, "cy", ada="3")
    ask(klass, hand_in, answer="Nonsense.")
    collect(klass, week, check_owner=False)
    record(klass, week, report(graded("ada", 2, 1)))
    assert mark_of(klass, "ada") == (3.0, True)
    read_marks(klass, week, marked(klass, "bea", bob="1"), "bea")
    assert mark_of(klass, "ada") == (3.0, True)
    done = read_marks(klass, week, before, "cy")
    assert done.changed == [f"{code_of(klass, week, 'ada')} why"]
    assert mark_of(klass, "ada") == (3.0, True)
    assert read_marks(klass, week, marked(klass, "cy", ada="0"), "cy").apart == []
    assert mark_of(klass, "ada") == (0.0, False), "the mark of the former answer is ignored"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("00000000,why,3,x,1,", "has the code"),
        ("CODE,how,3,x,1,", "no question 'how'"),
        ("CODE,why,3,x,4,", "not between 0 and 3"),
        ("CODE,why,3,x,good,", "is not a number"),
    ],
)
def test_a_slip_on_a_sheet_is_named_and_nothing_is_entered(
    klass: Course, week: Week, line: str, what: str
) -> None:
    path = klass.root / "sheet.csv"
    code = code_of(klass, week, "ada")
    path.write_text("code,question,points,answer,mark,comment\n" + line.replace("CODE", code))
    with pytest.raises(KitError, match=what):
        read_marks(klass, week, path, "bea")
    assert mark_of(klass, "ada") == (None, True)


# Regrade requests


def ask(
    klass: Course,
    hand_in: Callable[..., Path],
    code: str = SOLUTION,
    picture: dict[str, dict[str, str]] | None = None,
    answer: str = "",
) -> None:
    own = Workspace(klass).submitted("ada", klass.weeks[0]) / f"{WEEK}.ipynb"
    notebook = json.loads(own.read_text())
    for cell in notebook["cells"]:
        if "doubles" in "".join(cell["source"]):
            cell |= ({"attachments": picture} if picture else {}) | (
                {"source": answer} if answer else {}
            )
    files = {"doubling.py": code, own.name: json.dumps(notebook), REQUEST: ASKS}
    hand_in("ada", files, time=AGAIN)


def test_a_request_shows_in_status_and_costs_no_time(
    klass: Course, week: Week, hand_in: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ask(klass, hand_in)
    assert collect(klass, week, check_owner=False).asking == ["ada"]
    folder = Workspace(klass).submitted("ada", week)
    assert (folder / "timestamp.txt").read_text().startswith("2020-01-10")
    assert not (folder / REQUEST).exists()
    (shown,) = status(klass)
    assert shown.asking == {"ada": "# softmax"}
    assert (shown.ungraded, to_collect(klass, week)) == ([], [])
    assert run(["requests", WEEK]) == 1
    assert "\\x1b[31m" in capsys.readouterr().out


def test_with_other_code_it_is_a_new_hand_in(
    klass: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    ask(klass, hand_in, SOLUTION + "\n# mended\n")
    collect(klass, week, check_owner=False)
    stamp = Workspace(klass).submitted("ada", week) / "timestamp.txt"
    assert stamp.read_text() == AGAIN
    assert open_requests(klass, week) == {"ada": "# softmax"}


@pytest.mark.parametrize(("kind", "late"), [("image/png", True), ("text/html", False)])
def test_with_another_picture_in_an_answer_it_is_a_new_hand_in(
    klass: Course, week: Week, hand_in: Callable[..., Path], kind: str, late: bool
) -> None:
    ask(klass, hand_in, picture={"mine.png": {kind: "AAAA"}})
    collect(klass, week, check_owner=False)
    stamp = Workspace(klass).submitted("ada", week) / "timestamp.txt"
    assert (stamp.read_text() == AGAIN) is late


def test_another_picture_is_another_answer_for_its_mark(
    klass: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    read_marks(klass, week, marked(klass, "bea", ada="3"), "bea")
    ask(klass, hand_in, picture={"mine.png": {"image/png": "AAAA"}})
    collect(klass, week, check_owner=False)
    record(klass, week, report(graded("ada", 2, 1)))
    assert mark_of(klass, "ada") == (3.0, True)


def test_an_answer_closes_it_and_stands_in_the_feedback(
    klass: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    ask(klass, hand_in)
    collect(klass, week, check_owner=False)
    answer_request(klass, week, "ada", "You are right.")
    assert open_requests(klass, week) == {}
    collect(klass, week, check_owner=False)
    assert open_requests(klass, week) == {}, "the same text asks nothing new"
    assert run(["feedback", WEEK, "--student", "ada", "--unmarked"]) == 0
    page = Workspace(klass).feedback_page("ada", week).read_text()
    assert "You asked for a regrade. You are right." in page


def test_nobody_is_answered_who_did_not_ask(klass: Course) -> None:
    assert run(["requests", WEEK, "--answer", "bob", "--text", "no"]) == 2


def test_a_sheet_is_sorted_by_question_and_keeps_the_lines_of_an_answer(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    for name, text in (("ada", "First.\n\n- =1+1\n- second"), ("bob", ""), ("cy", "Because.")):
        answer = json.loads(notebook)
        for cell in answer["cells"]:
            if text and cell["metadata"].get("nbgrader", {}).get("grade_id") == "why":
                cell["source"] = text
        hand_in(name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": json.dumps(answer)})
    collect(course, week, check_owner=False)
    record(course, week, report(*(graded(name, 2, 1) for name in ("ada", "bob", "cy"))))
    rows = list(csv.DictReader(io.StringIO(sheet(course, week), newline="")))
    by_code = {row["code"]: row["answer"] for row in rows}
    assert set(by_code) == {code_of(course, week, name) for name in ("ada", "cy")}, "bob: empty"
    assert by_code[code_of(course, week, "ada")] == "First.\n\n'- =1+1\n'- second"
    assert [row["code"] for row in rows] == sorted(by_code)
