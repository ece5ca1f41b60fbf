"""Check the numbers in lessons and READMEs against computed ones."""

from __future__ import annotations

import gzip
import math
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from autograder.authoring.lesson.syllabus import read_syllabus, total_minutes
from autograder.model.course import load

COURSE = load(Path(__file__).resolve().parents[2])
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def text(week: str, name: str = "lesson.md") -> str:
    """A page of a week, its line breaks as spaces."""
    pages = [COURSE.exercise_folder(w) / name for w in COURSE.weeks if w.name == week]
    return " ".join(pages[0].read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", ["README.md", "lesson.md"])
def test_week_6_says_how_many_electives_count(page: str) -> None:
    week = next(w for w in COURSE.weeks if w.name == "week06_beyond")
    there, counted = sum(e.elective for e in week.exercises), week.electives_counted
    assert counted is not None
    said = text(week.name, page)
    assert f"our best {WORDS[counted]} count" in said
    assert f"the other {WORDS[there - counted]} cost nothing" in said


def test_week_6_says_how_many_electives_there_are() -> None:
    week = next(w for w in COURSE.weeks if w.name == "week06_beyond")
    there = WORDS[sum(e.elective for e in week.exercises)]
    assert f"{there.capitalize()} electives" in text(week.name, "README.md")
    assert f"There are {there} exercises" in text(week.name)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_no_type_of_week_1_holds_the_share_that_it_calls_0(kind: type[np.floating]) -> None:
    with np.errstate(under="ignore"):
        assert np.exp(kind(-800)) == 0


def test_the_last_hand_of_week_5_takes_as_long_as_it_says() -> None:
    found = re.search(
        r"\$C = (\d+)\$ features the last takes about ([\d,]+) tokens", text("week05_transformer")
    )
    assert found is not None
    width, said = int(found[1]), int(found[2].replace(",", ""))
    period = 2 * math.pi * 10000 ** ((width - 2) / width)
    assert said == round(period, -3)


def test_the_verses_that_week_5_shows_end_with_a_line() -> None:
    shown = re.search(r"print\(\*(text\.split\(.*?\)\[:2\])", text("week05_transformer"))
    assert shown is not None
    verses = (COURSE.root / "assets" / "verses.txt").read_text(encoding="utf-8")
    assert all(verse.endswith(".") for verse in verses.split("\n\n")[:2])


def test_the_slowest_pair_of_rotary_turns_as_slowly_as_its_docstring_says() -> None:
    solution = next(w for w in COURSE.weeks if w.name == "week06_beyond")
    assert "base^(1 - 2/d) times as slowly" in COURSE.solution(solution).read_text(encoding="utf-8")
    base, d = 10000.0, 4
    speeds = [base ** (-2 * i / d) for i in range(d // 2)]
    assert speeds[0] / speeds[-1] == pytest.approx(base ** (1 - 2 / d))


def test_week_6_counts_in_bfloat16_as_far_as_it_says() -> None:
    lesson = text("week06_beyond")
    said = re.search(r"Count from (\d+) to (\d+) in bfloat16", lesson)
    counted = re.search(r"torch\.arange\((\d+), (\d+)\)\.to\(torch\.bfloat16\)", lesson)
    told = re.search(r"Position (\d+) is rounded to (\d+), the position of its neighbour", lesson)
    assert said is not None
    assert counted is not None
    assert told is not None
    assert (int(said[1]), int(said[2])) == (int(counted[1]), int(counted[2]) - 1)
    assert torch.tensor(int(told[1])).to(torch.bfloat16).item() == int(told[2])


def test_the_blog_of_week_8_forgets_a_factor_and_takes_query_heads() -> None:
    lesson = text("week08_serving")
    found = re.search(r"the model with (\d+) key-value heads as `([\d *]+)` bytes and gets", lesson)
    assert found is not None
    printed = math.prod(int(factor) for factor in found[2].split("*"))
    assert f"gets {printed / 2**30:.0f} GiB" in lesson
    assert printed == 2 * 32 * 32 * 128 * 8192  # 32 query heads, and 2 bytes, but keys alone
    assert int(found[1]) != 32


def beside(folder: str, name: str = "README.md") -> str:
    """Return a page of a folder next to the weeks, with line breaks as spaces."""
    page = COURSE.root / "exercises" / folder / name
    return " ".join(page.read_text(encoding="utf-8").split())


def test_the_capstone_names_no_part_that_a_student_may_have_named_otherwise() -> None:
    stub = (COURSE.root / "exercises" / "week05_transformer" / "transformer.py").read_text("utf-8")
    named = set(re.findall(r"\bmodel\.(\w+)", beside("capstone")))
    assert {name for name in named if f"`{name}`" not in stub} == set()


def test_the_novel_is_as_long_as_its_readme_says() -> None:
    novel = (COURSE.root / "exercises" / "novel" / "northanger_abbey.txt").read_bytes()
    assert f"{len(novel) / 1000:.0f} kB" in beside("novel")
    bits = 8 * len(gzip.compress(novel, 9)) / len(novel)
    assert f"`gzip -9` needs about {bits:.0f} on this text" in beside("novel")


def test_the_novel_says_how_many_places_are_to_be_filled_in() -> None:
    places = beside("novel", "bpe.py").count("# TODO")
    assert f"{WORDS[places].capitalize()} places say `TODO`" in beside("novel")


@pytest.mark.parametrize(
    ("name", "later"),
    [  # what a slow student leaves for later, by the lesson's paragraph on time
        ("week04_lsh", []),
        ("week06_beyond", ["entmax15"]),
        ("week07_flash", []),
        ("week08_serving", ["PagedCache"]),
        ("week09_kernels", ["flash_forward"]),
        ("week10_llama", []),
    ],
)
def test_a_week_takes_five_hours_without_what_its_lesson_names(name: str, later: list[str]) -> None:
    week = next(w for w in COURSE.weeks if w.name == name)
    read = read_syllabus(COURSE, week)
    assert read is not None
    kept = [e for e in week.exercises if e.name not in later]
    questions = {q: effort for q, effort in read.questions.items() if q not in later}
    shorter = msgspec.structs.replace(week, exercises=tuple(kept))
    required = msgspec.structs.replace(read, questions=questions)
    assert total_minutes(shorter, required)[1] <= 300
    lost = sum(q.points for q in week.questions if q.name in later)
    counted = sorted((e.points for e in week.exercises if e.elective), reverse=True)
    points = sum(e.points for e in week.exercises if not e.elective)
    points += sum(counted[: week.electives_counted]) + sum(q.points for q in week.questions)
    assert "**Time.**" in text(name)
    assert not lost or f"({lost:g} of {points:g} points)" in text(name)
