"""What is done for each student on all cores is done once for each, even if a process dies."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.nbgrader.autograde import parallel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="nothing is forked")
CLASS = [f"s{number:02}" for number in range(40)]


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "cores", lambda: 2)


@contextlib.contextmanager
def noting(folder: Path) -> Iterator[None]:
    (folder / f"open-{os.getpid()}").touch(exist_ok=False)
    yield


def test_each_student_is_done_once_and_what_is_said_of_them_comes_back(tmp_path: Path) -> None:
    found = list(
        parallel.on_all_cores(lambda s: f"{s} {os.getpid()}", lambda: noting(tmp_path), CLASS)
    )
    assert sorted(student for student, _ in found) == CLASS
    assert all(said.startswith(f"{student} ") for student, said in found)
    by = {said.split()[1] for _, said in found}
    assert str(os.getpid()) not in by
    opened = {path.name.removeprefix("open-") for path in tmp_path.iterdir()}
    assert by <= opened
    assert len(opened) == 2


def test_a_few_are_done_here(tmp_path: Path) -> None:
    few = CLASS[:20]
    found = parallel.on_all_cores(lambda s: str(os.getpid()), lambda: noting(tmp_path), few)
    assert list(found) == [(student, str(os.getpid())) for student in few]
    assert [p.name for p in tmp_path.iterdir()] == [f"open-{os.getpid()}"]


def test_if_a_process_dies_what_is_left_is_done_here(tmp_path: Path) -> None:
    here = os.getpid()

    def die(student: str) -> str:
        if student == "s09" and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return student

    found = list(parallel.on_all_cores(die, lambda: noting(tmp_path), CLASS))
    assert sorted(found) == [(student, student) for student in CLASS]


def test_what_is_raised_reaches_who_asked(tmp_path: Path) -> None:
    def fail(student: str) -> str:
        raise ValueError(student)

    with pytest.raises(ValueError, match="s"):
        list(parallel.on_all_cores(fail, lambda: noting(tmp_path), CLASS))
