"""`watch` in a terminal."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from .conftest import SOLVED

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX's")
def test_a_save_is_checked_and_ctrl_c_ends_it_though_its_shell_ignored_that(tiny, write):
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
    terminal.expect_exact("6 points to go")
    terminal.expect_exact("waiting for you to save; Ctrl-C quits")
    write("def (")
    terminal.expect_exact("tiny.py does not run")
    write(*SOLVED.values())
    terminal.expect_exact("All public checks pass")
    for _ in range(3):  # on a busy machine a signal may arrive while Python cannot handle it
        terminal.sendintr()
        if ended := terminal.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=20):
            break
    assert ended
    assert "caught" not in terminal.before
    terminal.close()
    assert terminal.exitstatus == 0
