"""Ctrl-C ends a command with several processes at once, with one line and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.courses import copy_course
from tests.serve.running import AUTOGRADER, until

WEEK = "week01_softmax"


@pytest.mark.thorough
@pytest.mark.parametrize("children", [1, 3], ids=["while they start", "while they work"])
def test_ctrl_c_during_verify(tmp_path: Path, children: int) -> None:
    course = copy_course(tmp_path / "course", (WEEK,))
    process = subprocess.Popen(
        [AUTOGRADER, "verify", WEEK, "--quick", "--fresh", "--jobs", "2"],
        cwd=course,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )

    def started() -> list[psutil.Process]:  # one of them tracks resources
        found: list[psutil.Process] = psutil.Process(process.pid).children()
        return found if len(found) >= children else []

    running = until(started)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.split("\n")[-2:] == ["autograder: stopped; the same command continues the work", ""]
    assert "Traceback" not in said
    until(lambda: not any(p.is_running() for p in running), 10)


def test_a_database_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3

    from sqlalchemy.exc import OperationalError

    from autograder import cli

    full = sqlite3.OperationalError("database or disk is full")

    def fails(_: object) -> None:
        raise OperationalError("UPDATE comment", {}, full)

    monkeypatch.setattr(cli, "app", fails)
    assert cli.run(["marks", "week01", "--from", "sheet.csv"]) == 2
    said = capsys.readouterr().err
    assert said == "autograder: the database cannot be used: database or disk is full\n"
