"""What lies large beside a submission is copied once on its whole way, and never into memory."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course.loader import Course, Week, load
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.safe_copy import copy_ordinary
from autograder.nbgrader.feedback.publish_feedback import return_feedback
from autograder.nbgrader.gradebook.transfer import record
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import REGISTRY, SOLUTION, graded, report

LARGE = 60 << 20


def _bytes_written() -> int:
    """By this process, into files and pipes."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


@pytest.fixture
def roomy(course: Course, released: Workspace) -> Course:
    """The tiny course where so large a file may be handed in."""
    limits = "limits: {submission_mib: 64}\n"
    (course.root / "course.yaml").write_text(REGISTRY + limits, encoding="utf-8")
    return load(course.root)


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="nobody counts bytes here")
@pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
def test_sixty_megabytes_are_written_once_from_the_exchange_to_the_feedback(
    roomy: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    talk = hand_in("ada", {"doubling.py": SOLUTION, f"{week.name}.ipynb": notebook}) / "talk.mp4"
    with talk.open("wb") as file:
        file.truncate(LARGE)
    before = _bytes_written()
    assert collect(roomy, week, check_owner=False).notes == []
    record(roomy, week, report(graded("ada", 2, 1)))
    assert return_feedback(roomy, week).students == ["ada"]
    assert LARGE <= _bytes_written() - before < 1.2 * LARGE
    workspace = Workspace(roomy)
    collected = workspace.submitted("ada", week) / talk.name
    assert collected.stat().st_size == LARGE
    assert collected.stat().st_nlink == 3
    assert not collected.samefile(talk)  # which the student may change
    assert workspace.autograded("ada", week).joinpath(talk.name).samefile(collected)
    assert not (workspace.feedback("ada", week) / talk.name).exists()


@pytest.mark.parametrize("in_the_kernel", [True, False])
def test_what_is_collected_is_never_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_the_kernel: bool
) -> None:
    if not in_the_kernel:
        monkeypatch.delattr(os, "copy_file_range", raising=False)
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
