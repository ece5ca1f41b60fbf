"""Define and run the command `autograder`.

`app` defines the application. `student_commands`, `instructor` and `author` contain the commands.
Exit codes: 0 for success, 1 if something needs attention, 2 if the command could not run.
"""

import atexit
import errno
import os
import sys
from pathlib import Path

from ..model.errors import KitError
from ..terminal.streams import guard_streams
from .app import IN_PROJECT, app

__all__ = ["app", "main", "register", "run"]

# these options print colours or shell code, but no untrusted text, so their output is not guarded
_UNGUARDED = {"--help", "--show-completion", "--install-completion"}
# errors that a user can fix: a full disk, a quota, or missing permissions
_OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
_INTERRUPTED = 130  # the exit code after Ctrl-C
_COMPLETING = {"_AUTOGRADER_COMPLETE", "_GRADEWRIGHT_COMPLETE"}


def register() -> None:
    """Register the students' commands and, in the course's project, all other commands."""
    from . import student_commands  # noqa: F401  # registers its commands when imported

    if IN_PROJECT:
        from . import project_commands  # noqa: F401


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    # If jsonschema can import rfc3987_syntax, it compiles 38 grammars for a URL format that
    # notebooks do not use. This would delay commands that read a notebook by 0.9 s.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # blocks the import
    options = {word.partition("=")[0] for word in sys.argv[1:]}
    if not _UNGUARDED & options and not _COMPLETING & os.environ.keys():
        guard_streams()
    _exit(run())


def run(arguments: list[str] | None = None) -> int | str | None:
    """Run a command and return its exit code; print a KitError as one line and return 2."""
    try:
        _check_package()
        register()
        app(arguments)
    except SystemExit as end:
        if end.code == _INTERRUPTED and IN_PROJECT:
            print("autograder: stopped; the same command continues the work", file=sys.stderr)
        return end.code
    except KitError as error:
        message = str(error)
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror}: fix this, then try again"
    except KeyboardInterrupt:  # before the command has started
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "autograder").split(".")[0] == "autograder":
            raise
        needed = "'gradewright[instructor,serve]'" if IN_PROJECT else error.name
        remedy = f"run `python -m pip install {needed}`"
        message = f"this command needs {error.name}, which is not installed here: {remedy}"
    except Exception as error:
        database = sys.modules.get("sqlalchemy.exc")
        if database is None or not isinstance(error, database.DBAPIError):
            raise
        message = f"the database cannot be used: {error.orig}"
    else:
        return 0
    print(f"autograder: {message}", file=sys.stderr)
    return 2


def _check_package() -> None:
    """Raise KitError if PyPI's `autograder` has installed its modules in this package."""
    if (Path(__file__).parents[1] / "autograder.py").exists():
        raise KitError(
            "PyPI's `autograder`, a different program, is installed in the same environment and "
            "has the same package: run `python -m pip uninstall autograder`, then install the "
            "course's wheel again with `--force-reinstall`"
        )


def _exit(code: int | str | None) -> None:
    """Exit the process; skip Python's finalization after Ctrl-C or if torch is loaded.

    Finalization waits for jobs of process pools, which Ctrl-C stops, and can crash, depending on
    the order in which native libraries are unloaded.
    """
    if not ("torch" in sys.modules or code == _INTERRUPTED) or not isinstance(code, int | None):
        sys.exit(code)
    if code == _INTERRUPTED:
        import multiprocessing

        for child in multiprocessing.active_children():
            child.kill()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)
