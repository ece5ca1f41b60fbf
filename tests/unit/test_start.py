"""Test that commands that do not need torch start without slow imports."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

HEAVY = {"torch", "nbgrader", "pytest", "matplotlib", "distributed", "numpy", "jupytext"}


@pytest.mark.parametrize(
    "command",
    ["--help", "grade --help", "hint softmax", "progress", "grade nowhere", "export nowhere"],
)
def test_it_starts_without_what_takes_long(command, project) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "autograder", *command.split()],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = re.findall(r"import time:[^|]+\|[^|]+\|\s+(\w+)", done.stderr)
    assert "typer" in found, done.stderr
    assert not HEAVY & set(found)


def test_the_process_that_hands_out_the_work_needs_no_torch(project) -> None:
    """Import no torch in the parent of several jobs, where it would delay all for seconds."""
    program = (
        "import sys\n"
        "from autograder.model.availability import axis\n"
        "from autograder.batch import grade, pool\n"
        "axis()\n"
        "print(sorted({'torch', 'numpy', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True)
    assert done.stdout.decode().strip() == "[]", done.stderr


def test_a_command_that_reads_notebooks_compiles_no_grammars(copy, autograder) -> None:
    """Avoid jsonschema, which compiles a grammar at import for a format that notebooks lack."""
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "importtime",
            "-m",
            "autograder",
            "release",
            "week01",
            "--early",
            "--unproven",
        ],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = re.findall(r"import time:[^|]+\|[^|]+\|\s+(\w+)", done.stderr)
    assert "nbformat" in found, done.stderr[-2000:]
    assert "lark" not in found
