"""Remove the folder of an attack together with all files that the attack leaves behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import SandboxMissing, choose
from tests.attacks.laboratory import ATTACKED, Laboratory


@pytest.fixture(autouse=True)
def emptied(tmp_path: Path) -> Iterator[None]:
    """Remove the folder with `rm`, because Python's own removal fails on thousands of levels."""
    yield
    subprocess.run(["rm", "-rf", *map(str, tmp_path.iterdir())], check=False)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """Return a laboratory with all weeks; it creates the engine of a week on first use."""
    try:
        choose(ATTACKED)
    except SandboxMissing as error:
        pytest.skip(str(error))
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"))
    yield laboratory
    laboratory.close()
