"""Test that the doctor reports if other users of the machine can read the solutions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.cli.instructor.overview import readable_by_others


@pytest.fixture
def project() -> Iterator[Path]:
    """Create a folder that all users can enter; pytest's own belong to one user."""
    with tempfile.TemporaryDirectory(prefix="autograder-privacy-") as folder:
        (Path(folder) / "solutions").mkdir()
        (Path(folder) / "solutions").chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize(("mode", "readable"), [(0o755, True), (0o711, True), (0o700, False)])
def test_a_closed_folder_above_is_enough(project: Path, mode: int, readable: bool) -> None:
    project.chmod(mode)
    assert readable_by_others(project / "solutions") is readable


def test_without_solutions_there_is_nothing_to_say(project: Path) -> None:
    assert readable_by_others(project / "nothing") is None
