"""The environment of the checking process."""

from __future__ import annotations

from autograder.student.commands.check import check_week

from .conftest import SOLVED


def test_threads_of_a_check_wait_without_spinning(tiny, write, monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    asks = "import os\nassert os.environ.get('OMP_WAIT_POLICY') == 'passive'\n"
    folder = write(asks, *SOLVED.values())
    assert all(e.state == "pass" for e in check_week(folder, folder.names).exercises)
