"""What is wrong with a hidden test that ended without a verdict: where, what, and what was meant.

For its author; a student reads that the grading system failed.
"""

from __future__ import annotations

import builtins
import difflib
import traceback
from pathlib import Path
from types import FrameType

import pytest

from .case import NoSuchName
from .outcomes import GraderFault, printable

_FIXTURES = "agree", "count", "device", "draw", "dtype", "reference", "refuses", "submission"
_WORDLESS = (
    'an assert without a message: say what should hold, `expect(condition, "...")`, or students '
    "read nothing"
)


def told(
    test: str, error: BaseException, graders: Path, said: str = "", known: tuple[str, ...] = ()
) -> str:
    """One line on an exception that a hidden test in `graders` let out; `said`: in these words.

    known: the names that the solution has for sure.
    """
    frame, line, file = _place(error, graders)
    where = f" ({file}:{line})" if line else ""
    if said:
        return printable(f"{test}{where}: {said}")
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, GraderFault):
        said = str(error)
    elif isinstance(error, AssertionError) and not error.args:
        said = _WORDLESS
    elif isinstance(error, pytest.FixtureLookupError):
        said = f"there is no fixture {error.argname!r}"
    return printable(f"{test}{where}: {said}{_meant(error, frame, known)}")


def _place(error: BaseException, graders: Path) -> tuple[FrameType | None, int, str]:
    """The innermost frame of the tests' own files."""
    found: tuple[FrameType | None, int, str] = (None, 0, "")
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(graders):
            found = frame, line, path.name
    return found


def _meant(error: BaseException, frame: FrameType | None, exercises: tuple[str, ...]) -> str:
    name = getattr(error, "name", None)
    if isinstance(error, pytest.FixtureLookupError):
        name, known = error.argname, list(_FIXTURES)
    elif isinstance(error, NoSuchName):
        known = list(exercises)
    elif isinstance(error, NameError) and frame is not None:
        known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
    elif isinstance(error, AttributeError):
        known = [one for one in dir(error.obj) if not one.startswith("_")]
    else:
        known = []
    near = difflib.get_close_matches(name, known, n=1) if name else []
    return f"; did you mean {near[0]!r}?" if near else ""


def let_go(error: BaseException | None) -> None:
    """Empty the frames that an exception came through: they hold a stranger's values in cycles."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__context__
