"""Test the attacks on secrets, limits and neighbours; test_forging.py tests those on the score."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.batch.grade import grade_batch
from autograder.batch.intake import Submission
from tests.attacks.attackfiles import Attack
from tests.attacks.laboratory import ATTACKED, DEVICE, NEIGHBOUR, Laboratory, plain
from tests.attacks.trying import ALL, of_groups, try_one


@pytest.mark.parametrize("attack", of_groups("read_secrets", "exhaust", "intake"))
def test_attack(lab: Laboratory, attack: Attack, tmp_path: Path) -> None:
    try_one(lab, attack, tmp_path)


def test_every_line_of_the_list_has_an_attack() -> None:
    beside = {57, 58, 59, 60}  # system errors: tests/faults
    assert {a.line for a in ALL} == set(range(1, 57)) - beside


@pytest.mark.thorough
def test_attacks_beside_honest_neighbours_in_a_pool(lab: Laboratory, tmp_path: Path) -> None:
    week = lab.week("week01_softmax")
    source = lab.solution(week.name) + f"\n# {NEIGHBOUR}\n"
    chosen = [
        a for a in ALL if a.week == week.name and a.variant in ("", "bytes", "overlap", "noise")
    ]
    submissions = []
    for number, attack in enumerate(chosen[::60]):
        (tmp_path / str(number)).mkdir()
        submissions.append(lab.submission(attack, tmp_path / str(number)))
        honest = f"{source}# {number}\n".encode()
        submissions.append(Submission("neighbour", {week.module: honest}))
    report = grade_batch(
        lab.course, week, submissions, devices=("cpu", DEVICE), jobs=2, sandbox=ATTACKED
    )
    reports = [plain(s) for s in report.submissions if s.name == "neighbour"]
    assert len(report.submissions) == len(submissions)
    assert set(reports) == {lab.always(week.name)}


def test_nothing_is_left(lab: Laboratory) -> None:
    lab.close()
    assert not lab.left()
