"""Of wrong versions only that is asked on which it depends what is earned: no more, and no less."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.grading.guards import Kind, TriedVersion, WrongTold, _credit
from autograder.grading.hollow import HOLLOW, EchoHeard

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
    several = [v for v in told if len(v) > 1]
    seen = {id(v): any(end for t, end in v.items() if t not in lost) for v in several}
    own = {t: [seen[id(v)] for v in several if t in v] for t in TESTS}
    shares = {t: sum(ends) / len(ends) for t, ends in own.items() if len(ends) >= 3}
    return _credit({*TESTS} - lost - silent, told, shares)


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
        assert told.credit(each=True) == full(wrong, ends, lost)
        assert count <= len(ends)
        saved += len(ends) - count
    assert saved > 50


def test_beside_a_stand_in_a_test_earns_by_the_versions_that_it_rejects_itself() -> None:
    """Two mistakes of dropout are hidden; who makes neither is told apart by all other checks."""
    values = [TriedVersion(Kind.WRONG, Path(), ["test_0", "test_1"]) for _ in range(4)]
    hidden = [TriedVersion(Kind.WRONG, Path(), ["test_2", "test_3"]) for _ in range(2)]
    told = WrongTold(TESTS[:4], [*values, *hidden])
    for version in told.versions:
        for test in version.tests:
            told.note(version, test, version in values)
    assert set(told.credit().values()) == {4 / 6}
    assert told.credit(each=True) == dict.fromkeys(TESTS[:2], 1.0) | dict.fromkeys(
        TESTS[2:4], 4 / 6
    )


def test_nothing_is_earned_by_the_few_that_a_helper_leaves_to_tell() -> None:
    values = [TriedVersion(Kind.WRONG, Path(), ["test_0", "test_1"]) for _ in range(3)]
    hidden = [TriedVersion(Kind.WRONG, Path(), ["test_2", "test_3"]) for _ in range(4)]
    told = WrongTold(TESTS[:4], [*values, *hidden])
    for version in told.versions:
        for test in version.tests:
            told.note(version, test, version in values)
    assert told.credit(each=True) == {}


def test_what_the_drawn_tests_miss_the_others_are_asked() -> None:
    missed = [
        TriedVersion(Kind.WRONG, Path(), ["test_0", "test_1"], others=("test_2",)) for _ in range(2)
    ]
    told = WrongTold(TESTS[:3], missed)
    for version in missed:
        told.note(version, "test_0", False)
        told.note(version, "test_1", False)
    assert told.credit() == {}
    assert told.widen()
    for version in missed:
        assert told.is_open(version, "test_2")
        told.note(version, "test_2", True)
    assert not told.widen()
    assert told.credit() == dict.fromkeys(TESTS[:3], 1.0)


@pytest.mark.parametrize("told_of", [3, 2])
def test_of_versions_that_one_test_rejects_so_many_are_asked_as_decide(told_of: int) -> None:
    alone = [TriedVersion(Kind.WRONG, Path(), ["test_0"]) for _ in range(4)]
    told = WrongTold(["test_0"], alone)
    for number, version in enumerate(alone[:3]):
        told.note(version, "test_0", number < told_of)
    assert told.is_open(alone[3], "test_0") is (told_of < 3)
    told.note(alone[3], "test_0", False)
    assert told.credit() == {"test_0": 1.0 if told_of == 3 else 0.5}


CALLS = [
    (torch.ones(2, 3), (torch.ones(2, 3),)),
    (torch.ones(2, 3), (torch.ones(3, 2), 5)),
    (np.ones(4), (torch.ones(4),)),
    ((torch.ones(2), {"a": np.ones(3)}), (np.full(3, 2.0),)),
    ((torch.ones(2), 7.0), (torch.ones(1),)),
    ([torch.ones(2), None], ()),
    ("text", ("text",)),
]


@pytest.mark.parametrize("call", CALLS)
def test_an_echo_that_is_not_heard_is_zeros(call: tuple[Any, tuple[Any, ...]]) -> None:
    heard = EchoHeard()
    answers = [heard.noting(HOLLOW[way])(*call) for way in ("zeros", "echo")]
    assert heard.seen is (repr(answers[0]) != repr(answers[1]))
