"""Check that a week of trivial programs earns almost no points.

With correct helpers, each trivial program may earn at most a tenth; `verify` checks that. Here all
exercises of a week are trivial, so that none earns points as an inherited failure.
"""

from __future__ import annotations

import pytest

from autograder.grading.engine import Engine
from autograder.grading.triviality.trivial_programs import trivial_programs
from autograder.model.course import load
from tests.courses import PROJECT
from tests.weeks import two_of

COURSE = load(PROJECT)
KINDS = ("zeros", "argument 0", "ones", "nan", "noise")


def all_trivial(engine: Engine, kind: str) -> str:
    """Return a module that implements all exercises by trivial programs of one kind."""
    source = engine.bank.solution
    for exercise in engine.week.exercises:
        program = dict(trivial_programs(engine.bank, exercise.name)).get(kind)
        if program is not None:
            source += program.removeprefix(engine.bank.solution)
    return source


@pytest.mark.thorough
@pytest.mark.parametrize("name", [week.name for week in COURSE.weeks])
def test_a_week_of_trivial_programs_earns_next_to_nothing(name: str) -> None:
    week = COURSE.week(name)
    engine = Engine(COURSE, week, ("cpu",), b"inputs of this test alone " * 2, None)
    try:
        for kind in two_of(KINDS, COURSE.weeks.index(week)):  # all five take too long
            source = all_trivial(engine, kind)
            report = engine.grade(kind, {week.module: source.encode()})
            assert report.verdict == "graded", report.message
            assert not report.unexplained
            earned = {e.name: e.score for e in report.exercises if e.score}
            assert report.score <= 0.02 * report.max_score, (kind, earned)
    finally:
        engine.close()
