"""Notes on accidents that no check detects, such as a file that is not saved."""

from __future__ import annotations

import json
import os
import re

import pytest

from autograder.model.errors import KitError
from autograder.student.commands.check import check_week
from autograder.student.folder.packing import reason_of
from autograder.student.show.check_text import (
    Layout,
    lines,
    plain,
    progress_lines,
    week_progress,
)
from autograder.student.show.notebook_output import check_html

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


@pytest.mark.parametrize("name", ["tiny (1).py", "tiny-Copy1.py"])
def test_a_newer_copy_of_a_browser_or_of_jupyterlab_is_pointed_out(tiny, name):
    copy = tiny.path / name
    copy.write_text(tiny.module.read_text() + SOLVED["double"], encoding="utf-8")
    later = tiny.module.stat().st_mtime + 5
    os.utime(copy, (later, later))
    (note,) = check_week(tiny, ["double"]).notes
    assert note == f"{name} is newer than tiny.py: only tiny.py counts."
    tiny.module.unlink()
    with pytest.raises(KitError, match=rf"there is {re.escape(name)}: rename it"):
        tiny.source()


@pytest.mark.parametrize("copied", ["", "-Copy1"])
def test_code_in_a_notebook_is_pointed_out(tiny, copied):
    cell = {"cell_type": "code", "source": ["def double(x):\n", "    return 2 * x\n"]}
    notebook = tiny.path / f"{tiny.week.week}{copied}.ipynb"
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
    shown = list(lines(result, Layout(width)))
    assert max(len(line.plain.rstrip()) for line in shown) <= width
    assert "(the check itself)" in words(" ".join(line.plain for line in shown))


@pytest.mark.parametrize("width", [40, 80])
def test_progress_fits_the_terminal(tiny, width):
    check_week(tiny, ["double"])
    shown = [line.plain for line in progress_lines([week_progress(tiny)], Layout(width))]
    assert max(map(len, shown)) <= width
    assert "double_all not written yet" in words(" ".join(shown))


def test_of_what_nbgrader_says_the_reason_is_kept():
    said = (
        "[SubmitApp | WARNING] No nbgrader_config.py file found\n"
        "[SubmitApp | CRITICAL] Unwritable directory: /usr/local/share/exchange\n"
        "[SubmitApp | ERROR] nbgrader submit failed\n"
    )
    assert reason_of(said) == "Unwritable directory: /usr/local/share/exchange"
    assert reason_of("") == "nbgrader reported no reason"


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


def test_a_changed_signature_is_named(write):
    text = plain(check_week(write("def double():\n    return 2"), ["double"]))
    assert "Its parameters differ from those in the stub" in text


def test_an_exit_is_named(write):
    text = plain(check_week(write("def double(x):\n    exit()"), ["double"]))
    assert "It exits Python (`exit()` or `quit()`)" in text


def test_tabs_among_spaces_are_told_to_go(write):
    text = words(plain(check_week(write("def double(x):\n    y = x\n\treturn y"), ["double"])))
    assert "indent with spaces only, no tabs" in text
