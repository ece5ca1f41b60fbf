"""Define the fixtures of hidden tests, and explain errors in a hidden test to its author.

`pytest_plugin` provides the `case` of a test. If a test ends without a verdict, the test's author
reads the reason, and students only read that the grading system failed.
"""

import builtins
import difflib
import traceback
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from ..assertions.calls import Calls, Count
from ..assertions.case import Case
from ..assertions.inputs import Draw
from ..assertions.vocabulary import Agree, Refuses
from ..outcomes import GraderFault, Outcome, printable


@pytest.fixture
def submission(case: Case) -> Calls:
    return Calls(case, case.student)


@pytest.fixture
def reference(case: Case) -> Calls:
    return Calls(case, case.reference)


@pytest.fixture
def agree(case: Case) -> Agree:
    return Agree(case)


@pytest.fixture
def refuses(case: Case) -> Refuses:
    return Refuses(case)


@pytest.fixture
def count(case: Case) -> Count:
    return Count(case)


@pytest.fixture
def draw(case: Case) -> Draw:
    return case.draw


_FIXTURES = "agree", "count", "device", "draw", "dtype", "reference", "refuses", "submission"
_NO_MESSAGE = (
    'an assert without a message: use expect(condition, "..."), or students read no reason'
)


def describe_fault(
    test: str, error: BaseException, graders: Path, exercises: tuple[str, ...] = ()
) -> str:
    """Describe an exception that a hidden test raised, and the line of the test that raised it.

    graders:   the folder of the hidden tests
    exercises: the names of the week's exercises, for suggestions
    """
    frame, line, file = _place(error, graders)
    where = f" ({file}:{line})" if line else ""
    return printable(f"{test}{where}: {_explained(error, frame, exercises)}")


def describe_outcome(outcome: Outcome, graders: Path) -> str:
    """Describe the outcome of a hidden test by its verdict, the test's line and the message."""
    _, line, file = _place(outcome, graders)
    return f"{outcome.verdict}{f' ({file}:{line})' if line else ''}: {outcome.message}"


def describe_collection_error(error: BaseException, graders: Path) -> str:
    """Describe an exception that stopped the import of a file of hidden tests, and its line."""
    error = error.__cause__ or error  # pytest's exception has a message of many lines
    if isinstance(error, SyntaxError) and error.lineno:
        return printable(f"{Path(error.filename or '').name}:{error.lineno}: {error.msg}")
    frame, line, file = _place(error, graders)
    where = f"{file}:{line}: " if line else ""
    return printable(f"{where}{_explained(error, frame)}")


def _place(error: BaseException, graders: Path) -> tuple[FrameType | None, int, str]:
    """Return the innermost frame in a file of hidden tests, with its line and file name.

    The frame is None for an unknown fixture. Return (None, 0, "") without a matching frame.
    """
    found: tuple[FrameType | None, int, str] = (None, 0, "")
    if isinstance(error, pytest.FixtureLookupError):
        code = error.request.function.__code__
        return None, code.co_firstlineno, Path(code.co_filename).name
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(graders):
            found = frame, line, path.name
    return found


def _misspelt_word(error: BaseException) -> str | None:
    """Return the unknown word, such as "gradientss" in `agree.gradientss.softmax(x)`, or None."""
    call = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    return str(call.args[0]) if isinstance(call, partial) and call.args else None


def _explained(
    error: BaseException, frame: FrameType | None, exercises: tuple[str, ...] = ()
) -> str:
    """Return the text of an error, with a suggestion if the author misspelt a name."""
    text, name, known = f"{type(error).__name__}: {error}", getattr(error, "name", ""), list[str]()
    words = [n for kind in (Agree, Count, Refuses) for n in dir(kind) if n[0] != "_"]
    if isinstance(error, pytest.FixtureLookupError):
        name, known = error.argname or "", list(_FIXTURES)
        text = f"there is no fixture {name!r}"
    elif isinstance(error, GraderFault):  # `name` is a missing function
        text, known = str(error), [*exercises, *words]
    elif isinstance(error, AssertionError) and not error.args:
        text = _NO_MESSAGE
    elif isinstance(error, NameError) and frame is not None:
        known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
    elif (word := _misspelt_word(error)) is not None:
        text, name, known = f"fixtures have no {word!r}", word, words
    elif isinstance(error, AttributeError):
        known = [one for one in dir(error.obj) if not one.startswith("_")]
    near = difflib.get_close_matches(name or "", known, n=1)
    return f"{text}; did you mean {near[0]!r}?" if near else text
