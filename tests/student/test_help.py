"""Help, version and completion of the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import __version__


def test_every_command_stands_with_those_who_use_it_students_first(autograder):
    shown = autograder("--help").stdout
    panels = re.findall(r"╭─ (.*?) ─", shown)
    assert panels == ["Options", "For students", "For instructors", "For authors"]
    assert shown.index(" check ") < shown.index(" grade ") < shown.index(" verify ")


def test_the_version_is_one_line(autograder):
    assert autograder("--version").stdout == f"autograder {__version__}\n"


@pytest.mark.parametrize(
    ("typed", "found"),
    [("autograder che", ["check"]), ("autograder hint dou", ["double", "double_all"])],
)
def test_a_shell_completes_commands_and_exercises(tiny, typed, found):
    done = subprocess.run(
        [Path(sys.executable).parent / "autograder"],
        cwd=tiny.path,
        env=os.environ
        | {
            "_AUTOGRADER_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == found, (done.returncode, done.stdout, done.stderr)
