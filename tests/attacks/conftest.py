"""What every attack leaves in its folder goes with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def emptied(tmp_path: Path) -> Iterator[None]:
    """Thousands of nested folders are more than Python's own removal can take."""
    yield
    subprocess.run(["rm", "-rf", *map(str, tmp_path.iterdir())], check=False)
