"""Test that a large file is stored once and copied without reading all of it."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week, load
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.safe_copy import copy_ordinary
from autograder.nbgrader.feedback.publish_feedback import return_feedback
from autograder.nbgrader.gradebook.transfer import record
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import REGISTRY, SOLUTION, graded, report

LARGE = 60 << 20


@pytest.fixture
def roomy(course: Course, released: Workspace) -> Course:
    """Return the tiny course with a limit that allows the file."""
    limits = "limits: {submission_mib: 64}\n"
    (course.root / "course.yaml").write_text(REGISTRY + limits, encoding="utf-8")
    return load(course.root)


@pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
def test_sixty_megabytes_are_stored_once_from_the_history_to_the_graded_folder(
    roomy: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    talk = hand_in("ada", {"doubling.py": SOLUTION, f"{week.name}.ipynb": notebook}) / "talk.mp4"
    with talk.open("wb") as file:
        file.truncate(LARGE)
    assert collect(roomy, week, check_owner=False).notes == []
    record(roomy, week, report(graded("ada", 2, 1)))
    assert return_feedback(roomy, week).students == ["ada"]
    workspace = Workspace(roomy)
    collected = workspace.submitted("ada", week) / talk.name
    assert collected.stat().st_size == LARGE
    assert collected.stat().st_nlink == 3
    assert not collected.samefile(talk)  # which the student may change
    assert workspace.autograded("ada", week).joinpath(talk.name).samefile(collected)
    assert not (workspace.feedback("ada", week) / talk.name).exists()


def test_a_large_file_is_copied_in_steps(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    content = os.urandom(1 << 20) * 7 + b"end"
    (tmp_path / "from" / "talk.mp4").write_bytes(content)
    tracemalloc.start()
    try:
        assert copy_ordinary(tmp_path / "from", tmp_path / "to") == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "to" / "talk.mp4").read_bytes() == content
    assert most < 3 << 20
