"""Notes on accidents that no check detects, such as a file that is not saved."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import sys
import time

import pytest

from autograder.model.errors import KitError
from autograder.student.commands.check import check_week
from autograder.student.folder.packing import reason_of
from autograder.student.show.check_text import Layout, lines, plain
from autograder.student.show.notebook_output import check_html
from autograder.student.show.progress import progress_lines, week_progress

from .conftest import SOLVED


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_missing_import_is_said_once_and_no_line_is_guessed_at(write):
    folder = write("TABLE = np.arange(3)", "def double(x):\n    return helper(x) + 1")
    result = check_week(folder, folder.names)
    text = words(plain(result))
    assert "line 24, NameError: `name 'np' is not defined` (is its import missing?)" in text
    assert "double" not in text
    assert "Look at" not in text
    assert "uses" not in text
    assert "Next:" not in text


def test_an_unknown_name_of_ones_own_is_no_missing_import(write):
    text = plain(check_week(write("def double(x):\n    return y"), ["double"]))
    assert "NameError: name 'y' is not defined" in text
    assert "import" not in text


def test_a_browsers_newer_copy_is_pointed_out(tiny):
    copy = tiny.path / "tiny (1).py"
    copy.write_text(tiny.module.read_text() + SOLVED["double"], encoding="utf-8")
    later = tiny.module.stat().st_mtime + 5
    os.utime(copy, (later, later))
    (note,) = check_week(tiny, ["double"]).notes
    assert note == "tiny (1).py is newer than tiny.py: only tiny.py counts."
    tiny.module.unlink()
    with pytest.raises(KitError, match=r"there is tiny \(1\)\.py: rename it"):
        tiny.source()


def test_code_in_the_notebook_is_pointed_out(tiny):
    cell = {"cell_type": "code", "source": ["def double(x):\n", "    return 2 * x\n"]}
    notebook = tiny.path / f"{tiny.week.week}.ipynb"
    notebook.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    (note,) = check_week(tiny, tiny.names).notes
    assert "defines `double`, but only tiny.py is checked: move the code there." in note


def test_a_damaged_notebook_says_nothing(tiny):
    (tiny.path / f"{tiny.week.week}.ipynb").write_text('{"cells": [{}]}', encoding="utf-8")
    assert check_week(tiny, ["double"]).notes == ()


def test_a_file_that_is_the_same_as_before_may_not_be_saved(write):
    folder = write("def double(x):\n    return x")
    assert check_week(folder, ["double"]).notes == ()
    assert check_week(folder, ["shout"]).notes == ()
    (note,) = check_week(folder, ["double"]).notes
    assert note == "tiny.py has not changed since your last check: is it saved?"
    again = check_week(folder, ["double"])
    assert f"LOOK  {note}" in plain(again)
    assert note in check_html(again)
    write("def double(x):\n    return x + x")
    assert check_week(folder, ["double"]).notes == ()


@pytest.mark.parametrize("width", [40, 57, 80])
def test_no_line_is_wider_than_the_terminal(write, width):
    folder = write("def double(x):\n    return 3 * x", SOLVED["double_all"])
    result = check_week(folder, folder.names)
    shown = list(lines(result, Layout(width, checks=True)))
    assert max(len(line.plain.rstrip()) for line in shown) <= width
    assert "(the check itself)" in words(" ".join(line.plain for line in shown))


@pytest.mark.parametrize("width", [40, 80])
def test_progress_fits_the_terminal(tiny, width):
    check_week(tiny, ["double"])
    shown = [line.plain for line in progress_lines([week_progress(tiny)], width=width)]
    assert max(map(len, shown)) <= width
    stands = "3 points, not written yet" if width == 40 else "3 points not written yet"
    assert f"double_all {stands}" in words(" ".join(shown))


def test_of_what_nbgrader_says_the_reason_is_kept():
    said = (
        "[SubmitApp | WARNING] No nbgrader_config.py file found\n"
        "[SubmitApp | CRITICAL] Unwritable directory: /usr/local/share/exchange\n"
        "[SubmitApp | ERROR] nbgrader submit failed\n"
    )
    assert reason_of(said) == "Unwritable directory: /usr/local/share/exchange"
    assert reason_of("") == "it gave no reason"


def test_what_is_unwritten_is_not_marked_as_wrong_in_the_list(tiny):
    shown = [line.plain for line in lines(check_week(tiny, ["double"]), Layout(checks=True))]
    assert "    ○ Twice zero is zero." in shown


def test_a_line_to_look_at_opens_the_editor(write):
    folder = write("def double(x):\n    return 3 * x")
    shown = list(lines(check_week(folder, ["double"])))
    (place,) = (line for line in shown if "Look at line" in line.plain)
    number = place.plain.split("line ")[1].split()[0]
    assert f"link {folder.module.as_uri()}#L{number}" in {str(s.style) for s in place.spans}
    (check,) = (line for line in shown if "the check itself" in line.plain)
    assert f"link {folder.checks.as_uri()}" in {str(s.style) for s in check.spans}


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_watch_in_a_narrow_terminal(tiny):
    """The keys fit, l lists the checks, and q exits with code 0."""
    import fcntl
    import termios

    child, terminal = pty.fork()
    if not child:
        os.chdir(tiny.path)
        os.environ |= {"TERM": "xterm", "COLUMNS": "40", "LINES": "24"}
        os.execv(sys.executable, [sys.executable, "-m", "autograder", "watch"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    screen = _until(terminal, "waiting for you to save", 60)
    assert "h hint   n next   l list   c check all\r\nq quit" in screen
    os.write(terminal, b"l")
    assert "Twice zero is zero." in _until(terminal, "q quit", 30)
    os.write(terminal, b"q")
    _until(terminal, "\0", 30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _until(terminal: int, sign: str, seconds: float) -> str:
    """Return the terminal's output up to `sign`, or all of it."""
    shown, end = "", time.monotonic() + seconds
    while sign not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                shown += os.read(terminal, 65536).decode("utf-8", "replace")
            except OSError:  # the program has ended
                break
    while select.select([terminal], [], [], 0.3)[0]:
        try:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:
            break
    return re.sub(r"\x1b\[[\d;?]*\w", "", shown)


def test_a_raise_that_was_left_below_the_code_is_pointed_out(write):
    left = 'def double(x):\n    y = 2 * x\n    raise NotImplementedError("double")'
    folder = write(left)
    notes = check_week(folder, ["double", "shout"]).notes
    assert [n for n in notes if "still `raise NotImplementedError`" in n] == [
        "`double` contains code, but also still `raise NotImplementedError`: delete that line when "
        "you are done."
    ]


def test_a_stub_of_other_parameters_holds_no_code(write):
    folder = write('def double(*a):\n    """Twice."""\n    raise NotImplementedError("double")')
    assert check_week(folder, ["double", "shout"]).notes == ()


def test_a_module_under_another_name_is_to_be_renamed(tiny):
    tiny.module.rename(tiny.path / "mine.py")
    with pytest.raises(KitError, match=r"there is mine\.py: rename it to tiny\.py"):
        tiny.source()


@pytest.mark.parametrize("place", ["..", "{}", "../{} (1)"])
def test_newer_code_beside_the_week_is_pointed_out(tiny, place):
    place = place.format(tiny.week.week)
    copy = tiny.path / place / tiny.week.module
    copy.parent.mkdir(exist_ok=True)
    later = tiny.module.stat().st_mtime + 5
    copy.write_text(tiny.week.stub, encoding="utf-8")
    os.utime(copy, (later, later))
    assert tiny.newer_elsewhere() == []  # the unchanged stub
    copy.write_text(SOLVED["double"], encoding="utf-8")
    os.utime(copy, (later, later))
    assert tiny.newer_elsewhere() == [f"{place}/{tiny.week.module}"]


def test_a_changed_signature_is_named(write):
    text = plain(check_week(write("def double():\n    return 2"), ["double"]))
    assert "Its parameters differ from those in the stub" in text


def test_an_exit_is_named(write):
    text = plain(check_week(write("def double(x):\n    exit()"), ["double"]))
    assert "It exits Python (`exit()` or `quit()`)" in text


def test_tabs_among_spaces_are_told_to_go(write):
    text = words(plain(check_week(write("def double(x):\n    y = x\n\treturn y"), ["double"])))
    assert "indent with spaces only, no tabs" in text


def test_a_watch_does_not_ask_whether_the_file_is_saved(tiny):
    for _ in range(2):
        assert check_week(tiny, ["double"], note_unsaved=False).notes == ()
