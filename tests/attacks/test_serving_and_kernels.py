"""Test attacks on weeks 8 and 9, which use counters and Triton kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.attackfiles import Attack
from tests.attacks.laboratory import Laboratory
from tests.attacks.trying import ALL, try_one

pytestmark = pytest.mark.thorough
OWN = [a for a in ALL if a.path.parent.name in ("serving", "kernels")]


@pytest.mark.parametrize("attack", OWN, ids=lambda a: a.name)
def test_attack(lab: Laboratory, attack: Attack, tmp_path: Path) -> None:
    if attack.path.parent.name == "kernels":
        pytest.importorskip("triton", reason="triton is not installed: pip install triton")
    try_one(lab, attack, tmp_path)
