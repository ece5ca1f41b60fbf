"""`watch` without a terminal: which exercises are checked again, and the keys."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pexpect
import pytest
from rich.console import Console

from autograder.student.commands.watch import Watch

from .conftest import SOLVED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def watching(tiny):
    watching = Watch(tiny, tiny.names, 20.0)
    watching.check(watching.changed())
    yield watching
    watching.close()


def screen(watching: Watch) -> str:
    out = Console(width=80, record=True, file=io.StringIO())
    watching.draw(out)
    return out.export_text()


def test_a_save_checks_only_what_it_touched(watching, write):
    write(SOLVED["shout"])
    assert watching.changed() == ("shout",)
    assert watching.changed() == ()


def test_the_other_results_stay(watching, write):
    write(SOLVED["shout"])
    watching.check(watching.changed())
    assert [e.state for e in watching.result.exercises] == ["open", "open", "pass"]


def test_a_broken_file_mended_is_checked_again(watching, write):
    write("def (")
    watching.check(watching.changed())
    write()
    assert watching.changed() == watching.names


def test_a_name_missing_at_the_top_is_told_alone_and_then_all_is_checked_again(watching, write):
    write(*SOLVED.values(), "SIZE = np.arange(3)")
    watching.check(watching.changed())
    assert "tiny.py does not run: line" in screen(watching)
    assert "shout" not in screen(watching)
    write(*SOLVED.values(), "SIZE = 3")
    watching.check(watching.changed())
    assert watching.result.passed


def test_h_shows_the_next_hint(watching):
    assert watching.press("h")
    assert "Think of a sum of two." in screen(watching)


def test_h_without_hints_does_nothing(watching):
    (watching.folder.path / "hints.md").unlink()
    assert watching.press("h")


def test_n_goes_on_and_round(watching):
    seen = []
    for _ in range(3):
        watching.press("n")
        seen.append(watching.focus)
    assert seen == ["double_all", "shout", "double"]


def test_q_ends(watching):
    assert not watching.press("q")


def test_l_lists_every_check_by_name(watching):
    assert "Twice zero is zero." not in screen(watching)
    assert watching.press("l")
    assert "Twice zero is zero." in screen(watching)
    watching.press("l")
    assert "Twice zero is zero." not in screen(watching)


def test_c_checks_all_again(watching):
    assert watching.changed() == ()
    assert watching.press("c")
    assert watching.changed() == watching.names


def test_a_bar_shows_how_far_one_is(watching, write):
    write(*SOLVED.values())
    watching.check(watching.changed())
    assert "  3 of 3" in screen(watching).split("\n")[0]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX's")
def test_it_is_redrawn_in_another_width_and_ctrl_c_ends_it_though_its_shell_ignored_that(tiny):
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "autograder", "watch"],
        cwd=str(tiny.path),
        env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": ""},
        dimensions=(40, 100),
        encoding="utf-8",
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    terminal.expect_exact("waiting for you to save")
    terminal.expect_exact("h hint   n next   l list   c check all   q quit")
    terminal.setwinsize(40, 40)
    terminal.expect(r"c check all[^ ]*\r\n[^ ]*q quit")
    for _ in range(3):  # on a busy machine a signal may arrive while Python cannot handle it
        terminal.sendintr()
        if ended := terminal.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=20):
            break
    assert ended
    assert "caught" not in terminal.before
    terminal.close()
    assert terminal.exitstatus == 0
