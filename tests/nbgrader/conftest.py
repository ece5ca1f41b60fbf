"""Fixtures: the tiny course in a new folder, and nbgrader in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week, load
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import write, write_course


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Copy the tiny course to a new folder and create an empty Jupyter home."""
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    for name in ("HOME", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    root = tmp_path / "course"
    write_course(root)
    return load(root)


@pytest.fixture
def week(course: Course) -> Week:
    return course.weeks[0]


@pytest.fixture
def workspace(course: Course) -> Workspace:
    return Workspace(course)


@pytest.fixture(scope="session")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release the tiny course once, because creating the gradebook takes long."""
    root = tmp_path_factory.mktemp("released")
    write_course(root)
    course = load(root)
    release(course, course.weeks[0])
    return Workspace(course).root


@pytest.fixture
def released(released_once: Path, workspace: Workspace) -> Workspace:
    """Copy the released week for this test."""
    shutil.copytree(released_once, workspace.root)
    # copytree copies the folders' modes, except for the sticky group bit
    (workspace.exchange / "tiny" / "inbound").chmod(0o3733)
    return workspace


@pytest.fixture
def hand_in(released: Workspace, week: Week) -> Callable[..., Path]:
    """Put a submission into the exchange as `nbgrader submit` would."""

    def hand_in(
        student: str, files: dict[str, str | bytes], time: str = "2020-01-10 12:00:00.000000 UTC"
    ) -> Path:
        inbound = released.exchange / "tiny" / "inbound"
        folder = inbound / f"{student}+{week.name}+{time}+abc"
        write(folder, {"timestamp.txt": time, "submission_secret.txt": student, **files})
        return folder

    return hand_in


@pytest.fixture
def notebook(released: Workspace, week: Week) -> str:
    return (released.outbound(week) / f"{week.name}.ipynb").read_text(encoding="utf-8")
