"""Test the result store: results are stored completely or not at all, by fingerprint."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.batch.store import content_hash, read_result, store_result
from autograder.files import replace_file
from autograder.model.report.schema import Ending, SubmissionReport

REPORT = SubmissionReport("ada", Ending.GRADED, 3.0, 5.0, 0.1)
FILES = {"softmax.py": b"one", "more.py": b"two"}
KEY = content_hash(FILES, b"graders")


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    store_result(tmp_path, KEY, REPORT)
    assert read_result(tmp_path, KEY) == REPORT


def test_the_order_of_files_does_not_matter() -> None:
    assert content_hash(dict(reversed(FILES.items())), b"graders") == KEY


@pytest.mark.parametrize(
    "other",
    [{"softmax.py": b"onetwo", "more.py": b""}, {"softmax.pymore.py": b"onetwo"}, {}],
    ids=["moved border", "one file", "nothing"],
)
def test_other_files_have_another_key(other: dict[str, bytes]) -> None:
    assert content_hash(other, b"graders") != KEY


def test_other_graders_have_another_key() -> None:
    assert content_hash(FILES, b"mended graders") != KEY


@pytest.mark.parametrize("damage", [b"", b"{", b'{"name": 1}', b"\xff"])
def test_a_damaged_result_is_no_result(tmp_path: Path, damage: bytes) -> None:
    store_result(tmp_path, KEY, REPORT)
    next(tmp_path.rglob("*.json")).write_bytes(damage)
    assert read_result(tmp_path, KEY) is None


def test_a_result_waits_for_no_disk(tmp_path: Path, monkeypatch) -> None:
    # a file damaged by a power cut does not count as a result and is graded again
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("it waits"))
    store_result(tmp_path, KEY, REPORT)
    assert read_result(tmp_path, KEY) == REPORT


def test_what_cannot_be_written_leaves_the_old_result(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "result"
    replace_file(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        replace_file(path, b"new")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])
