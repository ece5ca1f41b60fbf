"""The command line. Commands import what they need when they run, so that help is instant.

One module per user: `student`, `instructor` (and `overview`), `author`.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any

from ..model.errors import KitError
from ..terminal.streams import guard_streams
from .app import IN_PROJECT, app

# What a plain installation of the project leaves out.
_INSTRUCTORS = {
    "latex2mathml",
    "markdown_it",
    "mdit_py_plugins",
    "nbgrader",
    "nh3",
    "packaging",
    "multipart",
    "psutil",
    "python_multipart",
    "pyseccomp",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}

# What says nothing of a stranger's, and has colours, or code for a shell, of its own.
_FOR_A_SHELL = ("--show-completion", "--install-completion")
_OWN_WORDS = {"--help", *_FOR_A_SHELL}
_COMPLETING = "_AUTOGRADER_COMPLETE"
# With it, Typer's options for a shell take its name.
_SHELL_IS_NAMED = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"


def register() -> None:
    """Make the commands known: those of students, and in the project all others too."""
    from . import student  # noqa: F401  # importing it registers its commands

    if IN_PROJECT:
        from . import project  # noqa: F401  # the same


def main() -> None:
    """Entry point: run the command that was typed, and end with its exit code."""
    # For a kind of address that no notebook has, jsonschema would compile 38 grammars: 0.9 s of
    # every command that reads a notebook. It goes without where the package is missing.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as import takes it
    typed = {word.partition("=")[0] for word in sys.argv[1:]}
    if not _OWN_WORDS & typed and _COMPLETING not in os.environ:
        guard_streams()
    _leave(run())


def _take_named_shell(arguments: list[str]) -> None:
    """Let `--show-completion bash` mean that shell.

    Typer looks for the shell among the processes above, where a job, a container or an editor has
    none, and takes no name.
    """
    for word, after in pairwise([*arguments, ""]):
        option, _, name = word.partition("=")
        if option not in _FOR_A_SHELL:
            continue
        if name or after[:1] not in ("", "-"):
            os.environ[_SHELL_IS_NAMED] = "1"
        else:
            _find_shell(option)


def _find_shell(option: str) -> None:
    """Raise KitError if no shell is among the processes above."""
    shellingham: Any = import_module("shellingham")  # Typer's, and without types

    try:
        shellingham.detect_shell()
    except shellingham.ShellDetectionFailure:
        raise KitError(
            f"no shell is seen that started this: name it, as in `autograder {option} bash`"
        ) from None


def run(arguments: list[str] | None = None) -> int | str | None:
    """Run a command and return its exit code; an error that the user can mend is one line and 2.

    0: all is as it should be. 1: done, and something is to be looked at. 2: it could not run.
    """
    register()
    try:
        _take_named_shell(sys.argv[1:] if arguments is None else arguments)
        app(arguments)
    except SystemExit as end:
        return end.code
    except KitError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _INSTRUCTORS:
            raise
        print(
            f"autograder: this command needs {error.name}, which a student's installation leaves "
            "out: run `make setup` in the course's project folder, and the command from there",
            file=sys.stderr,
        )
        return 2
    return 0


def _leave(code: int | str | None) -> None:
    """End the process. With torch and its neighbours loaded, without Python's last clean-up:

    native libraries that are torn down in an unlucky order have crashed there, after all was done.
    """
    if "torch" not in sys.modules or not isinstance(code, int | None):
        sys.exit(code)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)
