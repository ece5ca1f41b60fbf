"""`check FOLDER`: a folder that puts several weeks together, checked stage by stage.

The folder comes with the course and holds `stages.py`, which says what is claimed and how it is
tried. The student's side (`run_stages`) starts a Python of its own, which runs this file: their
code may hang or leave. A stage builds on those before it, so the first that fails is the last.

`stages.py` defines TITLE, DONE (what is said when all passed), WEEKS (the number of each module's
week) and `stages(here)`, which yields a `Stage` for each claim; `tried` makes one from a function
that raises `NotSo`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..show.terminal import console

FILE = "stages.py"
_SECONDS = 180.0


class Stage(msgspec.Struct, frozen=True):
    """How one stage went; `why` is one line, empty if it passed."""

    claim: str
    passed: bool
    why: str = ""
    skipped: bool = False
    unwritten: bool = False  # it failed because something is not written yet


class NotSo(Exception):
    """A stage's claim does not hold; the message is for the student."""


class _Begun(msgspec.Struct, frozen=True, tag=True):
    title: str


class _Done(msgspec.Struct, frozen=True, tag=True):
    words: str


class _Went(msgspec.Struct, frozen=True, tag=True):
    stage: Stage


_Event = _Begun | _Done | _Went


def tried(claim: str, check: Callable[[], None], weeks: Mapping[str, int]) -> Stage:
    """The stage of a claim; `weeks` has the number of the week of each of the student's modules."""
    try:
        check()
    except NotSo as error:
        return Stage(claim, False, str(error))
    except NotImplementedError as error:
        name = str(error.args[0]).split(".")[0] if error.args else "A function"
        where = _place(error, weeks)
        why = f"{name}{f' ({where})' if where else ''} is not written yet."
        return Stage(claim, False, why, unwritten=True)
    except BaseException as error:
        where = _place(error, weeks, line=True)
        said = re.sub(r"\s+", " ", f"{type(error).__name__}: {_text(error)}")[:200]
        return Stage(claim, False, f"{said}{f' ({where})' if where else ''}")
    return Stage(claim, True)


def _place(error: BaseException, weeks: Mapping[str, int], line: bool = False) -> str:
    """The student's file in which it was raised, with its week."""
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, number in reversed(frames):
        stem = Path(frame.f_code.co_filename).stem
        if stem in weeks:
            return f"{stem}.py, week {weeks[stem]}{f', line {number}' if line else ''}"
    return ""


def _text(error: BaseException) -> str:
    with contextlib.suppress(Exception):
        return str(error)
    return ""


def staged_folder(name: str, start: Path | None = None) -> Path | None:
    """The folder of that name with stages, here or beside the weeks; None if there is none."""
    here = (start or Path.cwd()).resolve()
    places = [here / name, here.parent / name]
    if here.name == name:
        places.insert(0, here)
    return next((p for p in places if (p / FILE).is_file()), None)


def run_stages(folder: Path, start: Path | None = None, seconds: float = _SECONDS) -> bool:
    """Run the stages and show each as it ends; return whether all passed."""
    from ..show.check_text import writes_unicode

    here = (start or Path.cwd()).resolve()
    out = console()
    marks = ("✓", "✗", "-") if writes_unicode(out) else ("+", "x", "-")
    passed, words = True, ""
    for event in _run(here, folder, seconds):
        if isinstance(event, _Begun):
            out.print(event.title, style="bold", markup=False)
        elif isinstance(event, _Done):
            words = event.words
        else:
            stage = event.stage
            mark = marks[2] if stage.skipped else marks[0] if stage.passed else marks[1]
            out.print(f"  {mark} {stage.claim}", markup=False, soft_wrap=True)
            if stage.why:
                out.print(f"      {stage.why}", markup=False, soft_wrap=True)
            passed = passed and (stage.passed or stage.skipped)
    out.print()
    if passed:
        out.print(words, markup=False)
    return passed


def _run(here: Path, folder: Path, seconds: float) -> Iterator[_Event]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "autograder.student.checks.stages",
        str(here),
        str(folder),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MPLBACKEND": "Agg"},
    )
    late = threading.Timer(seconds, process.kill)
    late.start()
    finished = False
    assert process.stdout is not None
    try:
        for line in process.stdout:
            try:
                event: _Event = msgspec.json.decode(line, type=_Event)
            except msgspec.MsgspecError:
                continue
            if isinstance(event, _Went):
                finished = not (event.stage.passed or event.stage.skipped)
            else:
                finished = isinstance(event, _Done)
            yield event
    finally:
        stopped = not late.is_alive()
        late.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    if not finished:
        why = (
            "It took too long and was stopped."
            if stopped
            else "Python ended before the checks did."
        )
        yield _Went(Stage("the next stage", False, f"{why} Run the weeks' own checks first."))


# The checking Python


def main(here: Path, folder: Path) -> None:
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def tell(event: _Event) -> None:
        events.write(msgspec.json.encode(event) + b"\n")
        events.flush()

    os.chdir(here)
    suite = _loaded(folder)
    tell(_Begun(suite.TITLE))
    for stage in suite.stages(here):
        tell(_Went(stage))
        if not (stage.passed or stage.skipped):
            os._exit(0)
    tell(_Done(suite.DONE))
    os._exit(0)


def _loaded(folder: Path) -> Any:
    """`stages.py`, which may import what lies beside it."""
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("stages", folder / FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["stages"] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    # under its own name, so that a suite's Stage is this module's
    from autograder.student.checks import stages

    stages.main(Path(sys.argv[1]), Path(sys.argv[2]))
