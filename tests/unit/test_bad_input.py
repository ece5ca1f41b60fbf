"""Test that any submission gets a report with a clear message and the batch continues."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from autograder.batch.intake import read_submission
from autograder.model.course import Course, load

SOURCE = b"def weigh(x, dim=-1):\n    return x\n"


@pytest.fixture(scope="module")
def tiny() -> Course:
    return load(Path(__file__).parent.parent / "golden" / "course")


def read(tiny: Course, path: Path):
    week = tiny.week("1")
    return read_submission(path, week, tiny.limits(week))


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_a_folder_a_file_and_a_zip_are_the_same_submission(tiny, tmp_path):
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "tiny.py").write_bytes(SOURCE)
    archive = zipped(tmp_path / "ada.zip", {"deep/down/tiny.py": SOURCE})
    found = [read(tiny, p) for p in (folder, folder / "tiny.py", archive)]
    assert [s.files for s in found] == [{"tiny.py": SOURCE}] * 3
    assert [s.name for s in found] == ["ada", "tiny.py", "ada"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "tiny.py is empty"),
        (b"  \n\t\n", "tiny.py is empty"),
        (b"\x7fELF\x02\x01" + bytes(50), "is not a text file"),
        (b"x = 1\0", "line 1, it contains a NUL byte"),
    ],
    ids=["empty", "blank", "binary", "nul"],
)
def test_a_module_that_is_no_text_is_refused(tiny, tmp_path, content, message):
    (tmp_path / "tiny.py").write_bytes(content)
    assert message in read(tiny, tmp_path).problem


def test_a_folder_without_the_module_says_what_it_holds(tiny, tmp_path):
    (tmp_path / "notes.py").write_bytes(b"x = 1\n")
    assert "It contains `notes.py`. Submit your tiny.py" in read(tiny, tmp_path).problem


def test_the_only_file_that_defines_an_exercise_is_the_module(tiny, tmp_path):
    (tmp_path / "solution_final.py").write_bytes(SOURCE)
    (tmp_path / "notes.py").write_bytes(b"x = 1\n")
    assert read(tiny, tmp_path).files == {"tiny.py": SOURCE, "notes.py": b"x = 1\n"}


def test_a_file_of_a_gigabyte_is_refused_without_being_read(tiny, tmp_path):
    with (tmp_path / "tiny.py").open("wb") as file:
        file.truncate(1 << 30)
    assert "larger than 8 MiB" in read(tiny, tmp_path).problem


def test_a_zip_bomb_is_refused(tiny, tmp_path):
    bomb = zipped(tmp_path / "bomb.zip", {"tiny.py": SOURCE, "data.txt": bytes(300 << 20)})
    assert bomb.stat().st_size < 1 << 20
    assert "larger than 8 MiB" in read(tiny, bomb).problem


@pytest.mark.parametrize("name", ["../tiny.py", "/etc/tiny.py", "a/../../tiny.py", "C:\\tiny.py"])
def test_names_that_climb_out_are_refused(tiny, tmp_path, name):
    assert "not a relative path" in read(tiny, zipped(tmp_path / "a.zip", {name: SOURCE})).problem


def test_a_broken_zip_is_refused(tiny, tmp_path):
    path = zipped(tmp_path / "a.zip", {"tiny.py": SOURCE * 100})
    path.write_bytes(path.read_bytes()[:-30])
    assert "cannot be opened" in read(tiny, path).problem


def test_names_that_clash_by_case_are_refused(tiny, tmp_path):
    path = zipped(tmp_path / "a.zip", {"tiny.py": SOURCE, "Data.txt": b"a", "data.TXT": b"b"})
    assert "the same name" in read(tiny, path).problem


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "pipe"])
def test_links_and_special_files_are_refused(tiny, tmp_path, kind):
    secret = tmp_path / "secret.py"
    secret.write_bytes(SOURCE)
    folder = tmp_path / "ada"
    folder.mkdir()
    if kind == "link to a file":
        (folder / "tiny.py").symlink_to(secret)
    elif kind == "link to a folder":
        (folder / "inside").symlink_to(tmp_path)
    else:
        os.mkfifo(folder / "tiny.py")
    assert not read(tiny, folder).files


def test_what_pytest_and_python_would_pick_up_is_left_out(tiny, tmp_path):
    for name in ("tiny.py", "conftest.py", "sitecustomize.py", "evil.pth", "pytest.ini"):
        (tmp_path / name).write_bytes(SOURCE)
    assert set(read(tiny, tmp_path).files) == {"tiny.py"}


def test_names_with_spaces_and_letters_of_any_script_are_kept(tiny, tmp_path):
    folder = tmp_path / "Zoë O'Neil 李 <b>"
    folder.mkdir()
    (folder / "tiny.py").write_bytes(SOURCE)
    assert read(tiny, folder).name == "Zoë O'Neil 李 <b>"


def test_the_batch_goes_on_around_bad_submissions(tmp_path, autograder):
    import shutil

    golden = Path(__file__).parent.parent / "golden"
    course = tmp_path / "course"
    shutil.copytree(golden / "course", course, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "nothing here").mkdir()
    bomb = zipped(tmp_path / "bömb.zip", {"tiny.py": bytes(100 << 20)})
    done = autograder(
        "grade",
        "1",
        tmp_path / "nothing here",
        bomb,
        golden / "submissions" / "solution",
        "--device",
        "cpu",
        "--json",
        tmp_path / "r.json",
        cwd=course,
    )
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(s["name"], s["verdict"], s["score"]) for s in report["submissions"]] == [
        ("nothing here", "refused", 0.0),
        ("bömb", "refused", 0.0),
        ("solution", "graded", 5.0),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("grade", "week99", "."), "has no week 'week99'"),
        (("grade", "1", "not-there"), "there is no not-there"),
        (("grade", "1", ".", "--device", "tpu"), "no device 'tpu'"),
        (("grade", "1", ".", "--sandbox", "cardboard"), "unknown sandbox 'cardboard'"),
        (("verify", "first"), "has no week 'first'"),
    ],
)
def test_a_wrong_command_is_one_line_and_exit_code_2(in_process, arguments, message):
    done = in_process(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1
