"""What is wrong with a hidden test that ended without a verdict: where, what, and what was meant.

For its author; a student reads that the grading system failed.
"""

from __future__ import annotations

import builtins
import difflib
import traceback
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from ..assertions.case import NoSuchName
from ..outcomes import GraderFault, printable

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
        said, where = f"there is no fixture {error.argname!r}", _line_of_test(error)
    elif _called(error) is not None:
        said = f"no word of a test is called {_called(error)!r}"
    return printable(f"{test}{where}: {said}{_meant(error, frame, known)}")


def cannot_be_collected(error: BaseException, graders: Path) -> str:
    """One line on an exception that ended the import of a file of hidden tests."""
    error = error.__cause__ or error  # pytest's own says it in many lines
    frame, line, file = _place(error, graders)
    if isinstance(error, SyntaxError) and error.lineno:
        line, file = error.lineno, Path(error.filename or "").name
        return printable(f"{file}:{line}: {error.msg}")
    where = f"{file}:{line}: " if line else ""
    return printable(f"{where}{type(error).__name__}: {error}{_meant(error, frame, ())}")


def _place(error: BaseException, graders: Path) -> tuple[FrameType | None, int, str]:
    """The innermost frame of the tests' own files."""
    found: tuple[FrameType | None, int, str] = (None, 0, "")
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(graders):
            found = frame, line, path.name
    return found


def _line_of_test(error: pytest.FixtureLookupError) -> str:
    code = getattr(error.request.function, "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""


def _called(error: BaseException) -> str | None:
    """The misspelt word of a test in `agree.gradientss.softmax(x)`, which was taken for a call."""
    taken = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    return str(taken.args[0]) if isinstance(taken, partial) and taken.args else None


def _meant(error: BaseException, frame: FrameType | None, exercises: tuple[str, ...]) -> str:
    name = getattr(error, "name", None)
    if isinstance(error, pytest.FixtureLookupError):
        name, known = error.argname, list(_FIXTURES)
    elif isinstance(error, NoSuchName):
        known = [*exercises, *_words()]
    elif isinstance(error, NameError) and frame is not None:
        known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
    elif (called := _called(error)) is not None:
        name, known = called, _words()
    elif isinstance(error, AttributeError):
        known = [one for one in dir(error.obj) if not one.startswith("_")]
    else:
        known = []
    near = difflib.get_close_matches(name, known, n=1) if name else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _words() -> list[str]:
    """What `agree`, `count` and `refuses` know beside the names of exercises."""
    from ..assertions.agree import Agree
    from ..assertions.calls import Count
    from ..assertions.refuse import Refuses

    return sorted({n for word in (Agree, Count, Refuses) for n in dir(word) if n[0] != "_"})


def let_go(error: BaseException | None) -> None:
    """Empty the frames that an exception came through: they hold a stranger's values in cycles."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__context__
