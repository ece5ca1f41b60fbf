"""The commands as a student types them: text, width and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import SOLVED, STUB


def autograder(*words: str, at: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autograder", *words],
        cwd=at,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | env,
        check=False,
    )


def test_check_exits_with_0_when_all_passes(write):
    folder = write(*SOLVED.values())
    assert autograder("check", at=folder.path).returncode == 0


def test_check_exits_with_1_when_something_is_open(tiny):
    assert autograder("check", at=tiny.path).returncode == 1


def test_check_exits_with_2_and_one_line_where_there_is_no_week(tmp_path):
    ran = autograder("check", at=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1


def test_a_misspelt_exercise_is_guessed(tiny):
    assert "did you mean 'double'?" in autograder("check", "duoble", at=tiny.path).stderr


def test_a_missing_module_says_how_to_get_it_back(tiny):
    tiny.module.unlink()
    ran = autograder("check", at=tiny.path)
    assert (ran.returncode, "reset --all" in ran.stderr) == (2, True)


def test_a_fault_is_never_shown_as_a_traceback(write):
    folder = write("raise RuntimeError('at import')")
    ran = autograder("check", at=folder.path)
    assert "Traceback" not in ran.stdout + ran.stderr
    assert "RuntimeError: `at import`" in ran.stdout


@pytest.mark.parametrize("words", [("check",), ("hint", "double"), ("progress",)])
def test_output_fits_80_columns_without_colour(words, write):
    folder = write(f"def double(x):\n    return {' + '.join('x' * 60)} + None")
    ran = autograder(*words, at=folder.path)
    assert "\x1b" not in ran.stdout
    assert max(map(len, ran.stdout.split("\n"))) <= 80


def test_a_terminal_without_unicode_gets_plain_signs(tiny):
    out = autograder("progress", at=tiny.path, PYTHONIOENCODING="ascii").stdout
    assert "o double" in out
    assert "....." in out


def test_a_print_cannot_move_the_cursor(write):
    folder = write("def shout(text):\n    print('\\x1b[2Jgone')\n    return text")
    assert "\x1b" not in autograder("check", "shout", at=folder.path).stdout


def test_hints_come_one_at_a_time(tiny):
    said = [autograder("hint", "double", at=tiny.path) for _ in range(3)]
    assert "Think of a sum of two." in said[0].stdout
    assert "helper" not in said[0].stdout
    assert "There is a `helper`." in said[1].stdout
    assert "You have seen all hints for double" in said[2].stdout
    assert [ran.returncode for ran in said] == [0, 0, 1]


def test_a_hint_without_a_name_is_for_what_is_open(write):
    folder = write(SOLVED["double"], SOLVED["double_all"])
    autograder("check", at=folder.path)
    assert "shout, hint 1 of 1" in autograder("hint", at=folder.path).stdout


def test_hints_survive_a_damaged_memory(tiny):
    tiny.memory.write_text("{ damaged")
    assert autograder("hint", "double", at=tiny.path).returncode == 0


def test_progress_knows_what_passed_and_what_changed_since(write):
    folder = write(SOLVED["double"], SOLVED["shout"])
    autograder("check", at=folder.path)
    assert "3 of 6 points pass public checks" in autograder("progress", at=folder.path).stdout
    write(SOLVED["double"], "def shout(text):\n    return text")
    out = autograder("progress", at=folder.path.parent).stdout
    assert "2 of 6 points" in out
    assert "changed since" in out


def test_reset_puts_back_one_stub_and_keeps_the_file(write):
    folder = write()
    mine = STUB.replace('    raise NotImplementedError("double")', "    return 7").replace(
        '    raise NotImplementedError("shout")', "    return text"
    )
    folder.module.write_text(mine, encoding="utf-8")
    assert autograder("reset", "double", at=folder.path).returncode == 0
    now = folder.module.read_text("utf-8")
    assert 'raise NotImplementedError("double")' in now
    assert "return text" in now
    (kept,) = (folder.path / "kept").iterdir()
    assert kept.read_text("utf-8") == mine


def test_reset_of_a_deleted_function_adds_its_stub(tiny):
    tiny.module.write_text("x = 1\n")
    autograder("reset", "shout", at=tiny.path)
    assert tiny.module.read_text() == (
        'x = 1\n\n\ndef shout(text):\n    raise NotImplementedError("shout")\n'
    )


def test_reset_all_gives_the_stub_and_keeps_even_what_is_no_python(tiny):
    tiny.module.write_bytes(b"\xff broken")
    autograder("reset", "--all", at=tiny.path)
    assert tiny.module.read_text("utf-8") == STUB
    (kept,) = (tiny.path / "kept").iterdir()
    assert kept.read_bytes() == b"\xff broken"


def test_reset_twice_in_a_second_keeps_both(tiny):
    import datetime as dt

    from autograder.student.folder.source import restore_stub

    now = dt.datetime(2027, 1, 12, 14, 30, 5)
    tiny.module.write_text("one")
    first = restore_stub(tiny, now=now)
    tiny.module.write_text("two")
    second = restore_stub(tiny, now=now)
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert first.name == "tiny_2027-01-12_143005.py"


def test_reset_needs_to_know_what(tiny):
    assert autograder("reset", at=tiny.path).returncode == 2
