"""A full disk is reported in one line, no score becomes zero, and the next run continues."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", *options, str(folder)], check=True, capture_output=True)


@pytest.fixture
def tiny_disk(classroom) -> Iterator[Path]:
    """The course's state folder on a disk of 16 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder = classroom.course / ".autograder"
    folder.mkdir()
    try:
        mount(folder, "-t", "tmpfs", "-o", "size=16k", "tiny")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a small disk cannot be mounted here: {error.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.thorough)])
def test_a_full_disk(classroom, tiny_disk, right, jobs) -> None:
    code, errors = classroom.grade("--jobs", jobs)
    assert code == 2
    assert "cannot store a result: No space left on device" in errors
    assert "Traceback" not in errors
    assert not classroom.report.exists()
    assert all(s["score"] == right[s["name"]][1] for s in classroom.stored())
    mount(tiny_disk, "-o", "remount,size=4m")
    assert classroom.grade("--jobs", jobs)[0] == 0
    assert classroom.scores() == right


@pytest.mark.thorough
def test_a_report_that_cannot_be_written_leaves_the_old_one_whole(classroom, tiny_disk) -> None:
    mount(tiny_disk, "-o", "remount,size=128k")
    classroom.report = tiny_disk / "report.json"
    old = "x" * 1000
    classroom.report.write_text(old)
    rest = tiny_disk / "rest"
    code, errors = 0, ""
    with rest.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            file.truncate(file.tell() - 60_000)  # room for the results, and none for the report
    code, errors = classroom.grade("--jobs", "1")
    assert code in (0, 2), errors
    if code == 2:
        assert "Traceback" not in errors
        assert classroom.report.read_text() == old
