"""Of wrong versions only that is asked on which it depends what is earned: no more, and no less."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autograder.grading.guards import Kind, TriedVersion, WrongTold, _credit

TESTS = [f"test_{n}" for n in range(6)]
Ends = dict[tuple[int, str], bool]


def versions(draw: random.Random) -> list[TriedVersion]:
    return [
        TriedVersion(Kind.WRONG, Path(), draw.sample(TESTS, draw.randint(1, 3)))
        for _ in range(draw.randint(0, 8))
    ]


def asked(told: WrongTold, ends: Ends) -> int:
    """Note all that matters; how much that is."""
    count = 0
    for version in told.versions:
        for test in version.tests:
            if told.is_open(version, test):
                told.note(version, test, ends[id(version), test])
                count += 1
    return count


def full(wrong: list[TriedVersion], ends: Ends, lost: set[str]) -> dict[str, float]:
    """What is earned if every version runs through all its tests."""
    told = [{t: ends[id(v), t] for t in v.tests} for v in wrong]
    tried = {test: [of_one[test] for of_one in told if test in of_one] for test in TESTS}
    silent = {test for test, some in tried.items() if len(some) >= 3 and not any(some)}
    return _credit({*TESTS} - lost - silent, told)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_as_much_is_earned_as_if_all_was_asked(share: float) -> None:
    draw, saved = random.Random(share), 0
    for _ in range(500):
        wrong = versions(draw)
        ends = {(id(v), t): draw.random() < share for v in wrong for t in v.tests}
        lost = {t for t in TESTS if draw.random() < 0.2}
        told = WrongTold(TESTS, wrong)
        count = asked(told, ends)
        told.lose(lost)
        count += asked(told, ends)
        assert told.credit() == full(wrong, ends, lost)
        assert count <= len(ends)
        saved += len(ends) - count
    assert saved > 50
