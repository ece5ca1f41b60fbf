"""Help, version and completion of the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shellingham

from autograder import __version__
from autograder.cli import run


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


BASH = "complete -o default -F _autograder_completion autograder"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--show-completion", "bash"], BASH),
        (["--show-completion=bash"], BASH),
        (["--show-completion", "zsh"], "compdef _autograder_completion autograder"),
    ],
)
def test_the_code_for_a_shell_is_code_whatever_shell_it_is_asked_from(words, line):
    # with `setsid --fork`, only the init process is a parent
    asked = [Path(sys.executable).parent / "autograder", *words]
    alone = ["setsid", "--fork"] if shutil.which("setsid") else []
    done = subprocess.run([*alone, *asked], capture_output=True, text=True, check=False)
    assert line in done.stdout.split("\n"), (done.returncode, done.stdout, done.stderr)


def test_where_no_shell_is_seen_it_is_to_be_named(monkeypatch, capsys):
    def none_above() -> None:  # otherwise a parent process may be a shell
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr(shellingham, "detect_shell", none_above)
    assert run(["--show-completion"]) == 2
    assert "name it, as in `autograder --show-completion bash`" in capsys.readouterr().err
