"""Test that the backups of `autograder reset` are not part of a submission."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

import pytest

from autograder.batch.intake import parts_of_path, read_submission
from autograder.model.course import Course, load

EARLIER = "kept/softmax_2027-01-12_101500.py"


@pytest.fixture(scope="module")
def course() -> Course:
    return load(Path(__file__).resolve().parents[2])


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_earlier_files_are_not_handed_in(course: Course, tmp_path: Path, packed: bool) -> None:
    week = course.week("week01")
    handed_in = tmp_path / "ada"
    for name in ("softmax.py", EARLIER):
        path = handed_in / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
    if packed:
        with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
            for name in ("softmax.py", EARLIER):
                archive.write(handed_in / name, name)
        handed_in = tmp_path / "ada.zip"
    submission = read_submission(handed_in, week, course.limits(week))
    assert submission.problem == ""
    assert set(submission.files) == {"softmax.py"}


@pytest.mark.parametrize("name", ["a/b.py", "./a//b.py", "a/./b.py/", ".", "", "b.py/.", "../a.py"])
def test_the_parts_of_a_name_are_those_of_a_path(name: str) -> None:
    assert tuple(parts_of_path(name)) == PurePosixPath(name).parts
