"""Check a project folder that combines several weeks, stage by stage (`check FOLDER`).

The folder is part of the course. Its `stages.py` defines TITLE, DONE (printed when all stages
pass), WEEKS (the week number of each module) and `stages(here)`, a generator of `Stage` objects.
`run_stage` creates a `Stage` from a function that raises `StageFailed` on failure. Each stage
builds on the one before, so the first failure ends the run. `run_stages` runs this module in a
separate process, because the student's code may hang or exit.
"""

import contextlib
import importlib
import os
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec

from ...worker.stop_location import raising_frame
from ..show.check_text import console

FILE = "stages.py"
_SECONDS = 180.0
_ALL_PASSED, _ONE_FAILED = 10, 11  # exit codes; not 0, because the student's code may exit with 0


class Stage(msgspec.Struct, frozen=True):
    """The outcome of one stage. `why`: the reason for a failure, on one line."""

    claim: str
    passed: bool
    why: str = ""
    skipped: bool = False
    unwritten: bool = False  # the stage failed because a function is not written yet


class StageFailed(Exception):
    """A stage's claim is not true of the student's code. The student sees the message."""


def run_stage(claim: str, check: Callable[[], None], weeks: Mapping[str, int]) -> Stage:
    """Run one check and return its outcome. `weeks`: maps the student's modules to week numbers."""
    try:
        check()
    except StageFailed as error:
        return Stage(claim, False, str(error))
    except BaseException as error:
        raising = raising_frame(error)
        if isinstance(error, NotImplementedError) and raising and _is_students(raising, weeks):
            name = str(error.args[0]).split(".")[0] if error.args else "A function"
            why = f"{name}{_location(error, weeks, line=False)} is not written yet."
            return Stage(claim, False, why, unwritten=True)
        text = ""
        with contextlib.suppress(Exception):  # the exception's `__str__` may be the student's code
            text = str(error)
        why = re.sub(r"\s+", " ", f"{type(error).__name__}: {text}")[:200]
        return Stage(claim, False, f"{why}{_location(error, weeks, line=True)}")
    return Stage(claim, True)


def _is_students(frame: FrameType, weeks: Mapping[str, int]) -> bool:
    """Return True for a frame in one of the student's modules, but not in a library."""
    return Path(frame.f_code.co_filename).stem in weeks


def _location(error: BaseException, weeks: Mapping[str, int], line: bool) -> str:
    """Return the innermost location in the student's files in parentheses, or "" if unknown."""
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        stem = Path(frame.f_code.co_filename).stem
        if _is_students(frame, weeks):
            return f" ({stem}.py, week {weeks[stem]}{f', line {number}' if line else ''})"
    return ""


def staged_folder(name: str, start: Path | None = None) -> Path | None:
    """Return the project folder `name`, or None if it is not at, in or next to `start`."""
    here = (start or Path.cwd()).resolve()
    folders = [here] if here.name == name else []
    folders += [here / name, here.parent / name]
    return next((f for f in folders if (f / FILE).is_file()), None)


def run_stages(folder: Path, start: Path | None = None) -> bool:
    """Run the stages in a separate process and print the results; return True if all passed."""
    out = console()
    marks = ("+", "x", "-") if out.options.ascii_only else ("✓", "✗", "-")
    here = (start or Path.cwd()).resolve()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, str(here), str(folder), *marks],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    with process:
        try:
            for number, line in enumerate(process.stdout or ()):
                out.print(line.rstrip("\n"), style="" if number else "bold")
            code = process.wait()
        finally:
            timed_out = not timer.is_alive()
            timer.cancel()
            process.kill()
    if code not in (_ALL_PASSED, _ONE_FAILED):
        why = "It took too long and was stopped." if timed_out else "Python exited before the end."
        out.print(f"  {marks[1]} the next stage\n      {why} Check each week first.")
    return code == _ALL_PASSED


def main(here: Path, folder: Path, marks: Sequence[str]) -> NoReturn:
    """Run the stages of `folder` on the student's files in `here`, then exit the process."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discards the output of the student's code

    os.chdir(here)
    sys.path.insert(0, str(folder))
    suite = importlib.import_module("stages")
    print(suite.TITLE, file=out, flush=True)
    for stage in suite.stages(here):
        mark = marks[2] if stage.skipped else marks[0] if stage.passed else marks[1]
        why = f"\n      {stage.why}" if stage.why else ""
        print(f"  {mark} {stage.claim}{why}", file=out, flush=True)
        if not (stage.passed or stage.skipped):
            print(file=out, flush=True)
            os._exit(_ONE_FAILED)
    print(f"\n{suite.DONE}", file=out, flush=True)
    os._exit(_ALL_PASSED)


if __name__ == "__main__":
    # import this file under its full name, so that `Stage` is the class that stages.py imports
    from autograder.student.checks import stages

    stages.main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
