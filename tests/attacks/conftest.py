"""What every attack leaves in its folder goes with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import SandboxMissing, choose
from tests.attacks.laboratory import ATTACKED, Laboratory


@pytest.fixture(autouse=True)
def emptied(tmp_path: Path) -> Iterator[None]:
    """Thousands of nested folders are more than Python's own removal can take."""
    yield
    subprocess.run(["rm", "-rf", *map(str, tmp_path.iterdir())], check=False)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """A laboratory with all its weeks; an engine is made when its week is first asked for."""
    try:
        choose(ATTACKED)
    except SandboxMissing as error:
        pytest.skip(str(error))
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"))
    yield laboratory
    laboratory.close()
