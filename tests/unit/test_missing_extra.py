"""Without an extra its exercises are not run: nothing fails, and it is said what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# The commands, in a Python that does not find triton.
WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
def without(name, package=None):
    return None if name.partition(".")[0] == "triton" else find(name, package)
importlib.util.find_spec = without
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "triton":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nowhere())
from autograder.cli import main
main()
"""


def test_verify_says_not_run_and_finds_no_gap() -> None:
    command = [sys.executable, "-c", WITHOUT, "verify", "week09", "--quick", "--draws", "1"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "not_run: exercises of week09_kernels need the extra 'triton'" in said
    assert "pip install triton" in said
    assert "0 misconceptions: 0 gaps" in said
