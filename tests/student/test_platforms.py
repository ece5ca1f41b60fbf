"""Other systems: lines and encodings as Windows writes them, paths with spaces and letters."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from autograder.model.errors import KitError
from autograder.student.folder.packing import pack
from autograder.student.folder.source import restore_stub
from autograder.student.folder.week import WeekFolder, open_folder
from autograder.student.show.check_text import console
from tests.student.conftest import SOLVED, STUB

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["Zoë Müller", "with space", "数据 & co", "a'b", "100%"])
def test_a_week_is_checked_in_a_folder_of_any_name(
    tiny: WeekFolder, name: str, tmp_path: Path
) -> None:
    place = tmp_path / name / tiny.path.name
    shutil.copytree(tiny.path, place)
    (place / "tiny.py").write_text("\n\n".join([STUB, *SOLVED.values()]), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "check", "double"],
        cwd=place, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "ascii", "utf-8"])
def test_output_fits_any_code_page(tiny: WeekFolder, encoding: str) -> None:
    """A legacy Windows console replaces characters and does not fail."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": encoding,
        "PYTHONUTF8": "0",
    }
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "check"],
        cwd=tiny.path, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "double" in done.stdout.decode(encoding)


def test_marks_are_plain_where_the_console_is_not_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    assert console().options.ascii_only


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
def test_lines_may_end_as_any_system_ends_them(tiny: WeekFolder, line_end: str) -> None:
    text = "\n".join([STUB, SOLVED["double"]])
    tiny.module.write_bytes(text.replace("\n", line_end).encode())
    assert tiny.source() == text


def test_a_byte_order_mark_is_no_part_of_the_text(tiny: WeekFolder) -> None:
    tiny.module.write_bytes(b"\xef\xbb\xbf" + STUB.encode())
    assert tiny.source() == STUB


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_another_encoding_is_refused_with_the_remedy(tiny: WeekFolder, encoding: str) -> None:
    tiny.module.write_bytes('"""Größe."""\n'.encode(encoding))
    with pytest.raises(KitError, match="Save it again as UTF-8"):
        tiny.source()


def test_a_reset_gives_back_a_file_of_windows(tiny: WeekFolder) -> None:
    tiny.module.write_bytes("\n\n".join([STUB, SOLVED["shout"]]).replace("\n", "\r\n").encode())
    restore_stub(tiny, "shout")
    assert "text.upper" not in tiny.source()
    restore_stub(tiny)
    assert tiny.source() == STUB


def test_names_of_what_is_handed_in_are_no_systems_own(tiny: WeekFolder) -> None:
    helper = tiny.path / "more" / "helper.py"
    helper.parent.mkdir()
    helper.write_text("x = 1\n", encoding="utf-8")
    assert "more/helper.py" in pack(tiny).files
    assert not [n for n in pack(tiny).files if "\\" in n or PureWindowsPath(n).is_absolute()]


def test_capitals_make_no_other_week(tiny: WeekFolder) -> None:
    """Windows and macOS find a folder by any case; the week is the one that week.json names."""
    place = tiny.path.with_name("WEEK03_TINY-copy")
    shutil.copytree(tiny.path, place)
    assert open_folder(place).week.week == "week03_tiny"
