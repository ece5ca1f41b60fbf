"""`make container` runs these; `make test` does not: they need root, debootstrap and a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.channels.gradescope_zip import GradescopeSettings, autograder_zip
from autograder.model.course import load
from tests.container.rootfs import PROJECT, Container, built

collect_ignore_glob = [] if os.environ.get("AUTOGRADER_CONTAINER") else ["test_*.py"]


@pytest.fixture(scope="session")
def container() -> Iterator[Container]:
    """The image of week 1; kept in build/ for the next time."""
    course = load(PROJECT)
    root = Path(os.environ.get("AUTOGRADER_ROOTFS", PROJECT / "build" / "container"))
    root.parent.mkdir(exist_ok=True)
    made = built(root, autograder_zip(course, GradescopeSettings(course.weeks[0].name)))
    yield made
    shutil.rmtree(made.base, ignore_errors=True)
