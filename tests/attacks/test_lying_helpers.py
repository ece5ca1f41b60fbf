"""A helper made to lie so that an empty exercise earns points: the guard lets nothing through.

Each file of `lend/` is appended to the solution of week 1. Its header says which exercise lies,
which is empty, and what the empty one may earn at most: what its own passing tests are worth, or
what a helper that says the same of everything leaves to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.engine import Engine
from autograder.model.course import load

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
_HEADER = re.compile(r"^Empty: (\w+)\nScore at most: ([\d.]+)$", re.M)
LIES = sorted((HERE / "lend").glob("*.py"))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    course = load(PROJECT)
    engine = Engine(course, course.week("1"), ("cpu",), b"inputs of this test alone " * 2, None)
    yield engine
    engine.close()


@pytest.mark.parametrize("path", LIES, ids=lambda path: path.stem)
def test_an_empty_exercise_earns_nothing_by_a_helper_that(path: Path, engine: Engine) -> None:
    text = path.read_text(encoding="utf-8")
    header = _HEADER.search(text)
    assert header is not None
    source = f"{engine.bank.solution}\n\n{text}"
    report = engine.grade(path.stem, {engine.week.module: source.encode()})
    assert report.verdict == "graded", report.message
    score = {e.name: e.score for e in report.exercises}
    assert score[header.group(1)] <= float(header.group(2))


def test_there_are_more_than_ten_lies() -> None:
    assert len(LIES) > 10
