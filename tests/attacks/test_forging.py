"""Test attacks that forge a score; they are the larger half, so they have a separate laboratory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.attackfiles import Attack
from tests.attacks.laboratory import Laboratory
from tests.attacks.trying import of_groups, try_one


@pytest.mark.parametrize("attack", of_groups("forge"))
def test_attack(lab: Laboratory, attack: Attack, tmp_path: Path) -> None:
    try_one(lab, attack, tmp_path)


def test_nothing_is_left(lab: Laboratory) -> None:
    lab.close()
    assert not lab.left()
