"""Test that no line of a solution, grader, misconception or alternative is released."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from autograder.authoring.lesson.handout import week_files
from autograder.authoring.lesson.leak_check import check_files, check_folder, secrets_of
from autograder.model.course import Course, Week, load
from autograder.model.errors import LeakError
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import WEEK, chunk, png

PROJECT = load(Path(__file__).resolve().parents[2])
WRITTEN = [w for w in PROJECT.weeks if (PROJECT.exercise_folder(w) / "lesson.md").is_file()]
ORIGINS = {
    "the solution": ("twice_the_number_that_came_in = x + x", f"solutions/{WEEK}/doubling.py:7"),
    "a grader": (
        "hidden_numbers_that_nobody_may_see = [3.25, -17.5]",
        f"autograder/graders/{WEEK}/test_double.py:3",
    ),
    "a misconception": (
        "squared_because_two_looks_like_a_power = x**2",
        f"solutions/{WEEK}/misconceptions/squares.py:12",
    ),
    "a model answer": (
        "Because a number and itself once more are two of that number, as $x + x = 2x$ says.",
        f"solutions/{WEEK}/answers.md",
    ),
    "what to write beside an answer": (
        "Lay out three beans twice and *count* them.",
        f"solutions/{WEEK}/answers.md",
    ),
    "an alternative": (
        "return sum_of_a_number_taken_twice([x, x])",
        f"solutions/{WEEK}/alternatives/by_sum.py:2",
    ),
}


def in_text(canary: str) -> bytes:
    return f"Some text.\n\n    >>> {canary}\n".encode()


def in_output(canary: str) -> bytes:
    cell = {"source": "", "outputs": [{"data": {"text/plain": [f"  {canary}\n"]}}]}
    return json.dumps({"cells": [cell]}).encode()


def in_escaped_json(canary: str) -> bytes:
    return "".join(f"\\u{ord(c):04x}" for c in canary).join(('{"stub": "', '"}')).encode()


def in_picture_text(canary: str) -> bytes:
    return png(chunk(b"tEXt", b"Comment\0" + canary.encode()))


def in_packed_picture_text(canary: str) -> bytes:
    return png(chunk(b"zTXt", b"Comment\0\0" + zlib.compress(canary.encode())))


def behind_the_picture(canary: str) -> bytes:
    return png() + canary.encode()


HIDING = {
    "AGENTS.md": in_text,
    "README.md": in_text,
    "hints.md": in_text,
    "week01_tiny.ipynb": in_output,
    "week.json": in_escaped_json,
    "figures/a.png": in_picture_text,
    "figures/b.png": in_packed_picture_text,
    "figures/c.png": behind_the_picture,
}


@pytest.mark.parametrize("name", HIDING)
@pytest.mark.parametrize("origin", ORIGINS)
def test_a_secret_line_is_found_and_its_origin_named(
    course: Course, week: Week, origin: str, name: str
) -> None:
    canary, where = ORIGINS[origin]
    with pytest.raises(LeakError) as raised:
        check_files({name: HIDING[name](canary)}, secrets_of(course, week), "source")
    assert f"source/{name}" in str(raised.value)
    assert where in str(raised.value)


@pytest.mark.parametrize("place", ["lesson.md", "test_doubling.py", "README.md", "hints.md"])
@pytest.mark.parametrize("origin", ["the solution", "a grader", "what to write beside an answer"])
def test_a_secret_pasted_into_what_students_get_stops_the_release(
    course: Course, week: Week, workspace: Workspace, place: str, origin: str
) -> None:
    path = course.exercise_folder(week) / place
    pasted = ORIGINS[origin][0]
    if origin == "a grader":
        pasted += "\n    agree.double(hidden_numbers_that_nobody_may_see)"
    path.write_text(path.read_text(encoding="utf-8") + f"\n{pasted}\n", encoding="utf-8")
    with pytest.raises(LeakError):
        release(course, week)
    assert not workspace.source(week).exists()


def test_the_message_names_the_line(course: Course, week: Week) -> None:
    text = f"one\ntwo\n\n  {ORIGINS['the solution'][0]}\n".encode()
    with pytest.raises(LeakError, match=r"source/a\.md, line 4: "):
        check_files({"a.md": text}, secrets_of(course, week), "source")


def test_a_line_broken_in_two_is_found(course: Course, week: Week) -> None:
    text = b"twice_the_number_that_came_in\n    = x + x"
    with pytest.raises(LeakError):
        check_files({"a.md": text}, secrets_of(course, week), "source")


def test_three_short_lines_are_as_telling_as_a_long_one(course: Course, week: Week) -> None:
    path = course.solution(week)
    short = "    a = x + x + 1\n    b = a - 1 + x\n    return b - x * 2\n"
    source = path.read_text(encoding="utf-8")
    long = source[source.index("    twice") : source.index("    # END")]
    path.write_text(source.replace(long, short), encoding="utf-8")
    with pytest.raises(LeakError):
        check_files({"a.md": short.encode()}, secrets_of(course, week), "source")
    check_files({"a.md": b"a = x + x + 1"}, secrets_of(course, week), "source")


@pytest.mark.parametrize("origin", ["a grader", "a misconception", "an alternative"])
def test_a_line_that_the_lesson_shows_may_stand_there(
    course: Course, week: Week, origin: str
) -> None:
    path = course.exercise_folder(week) / "lesson.md"
    line = ORIGINS[origin][0]
    path.write_text(f"{path.read_text(encoding='utf-8')}\nSpot the bug: {line}\n", encoding="utf-8")
    check_files(week_files(course, week), secrets_of(course, week), "source")


def test_a_line_that_its_author_calls_public_may_leave(course: Course, week: Week) -> None:
    path = course.graders(week) / "test_double.py"
    line = ORIGINS["a grader"][0]
    source = path.read_text(encoding="utf-8").replace(line, f"{line}  # public")
    path.write_text(source, encoding="utf-8")
    check_files({"a.md": line.encode()}, secrets_of(course, week), "source")


def test_what_the_stub_shows_is_no_secret(course: Course, week: Week) -> None:
    check_files(week_files(course, week), secrets_of(course, week), "source")


def test_a_file_that_nobody_asked_for_is_named(course: Course, week: Week, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("harmless?", encoding="utf-8")
    with pytest.raises(LeakError, match=r"notes\.txt: this file is not part of the release"):
        check_folder(folder, secrets_of(course, week), ["README.md"])


def test_damaged_json_is_not_let_through(course: Course, week: Week) -> None:
    with pytest.raises(LeakError, match="not valid JSON"):
        check_files({"a.ipynb": b"{"}, secrets_of(course, week), "source")


@pytest.mark.parametrize("week", WRITTEN, ids=lambda w: w.name)
def test_nothing_leaks_from_any_week_of_this_course(week: Week) -> None:
    check_files(week_files(PROJECT, week), secrets_of(PROJECT, week), week.name)
