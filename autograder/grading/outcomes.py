"""Define the exceptions that end a hidden test, and run optional steps after grading.

    Outcome
    ├── Unwritten      the code still raises the stub's NotImplementedError
    ├── Wrong          the result does not meet a requirement
    ├── Forbidden      the code made a forbidden call, or breaks a rule about its source
    ├── Crashed        the student's code raised an exception, is missing, or ended its process
    ├── TimedOut       a call exceeded its time limit
    ├── LimitExceeded  the code exceeded a limit on memory, disk, processes or the size of a reply
    ├── BadReply       the reply is not plain data, or not a valid frame
    └── NotRun         this machine or torch lacks what the test needs, so it does not count

An `assert` that fails with a message counts as Wrong. Any other exception leads to the verdict
`grader_fault`, unless the submission may have caused the exception and the solution passes the
test (`test_runner.Runs.run`). `BestEffort` runs the steps after the verdicts: diagnosis, fault
localization and errors carried forward. A submission may trigger a bug in these steps, so
exceptions are recorded and never change a verdict.
"""

import traceback
from collections.abc import Callable, Sequence
from enum import Enum
from typing import ClassVar, TypeVar

from ..model.errors import EngineError
from ..model.report.schema import Verdict
from ..worker.protocol.frames import Answer, Raised

Result = TypeVar("Result")

_MAX_LENGTH = 2_000


class Flaw(Enum):
    """The property of a result that made a hidden test fail."""

    VALUE = "values"
    KIND = "type, shape, dtype or number of parts"
    GRADIENT = "gradients"
    DETACHED = "no gradient"
    EFFECT = "side effects on the caller's objects"
    DEVICE = "device"
    STATE = "state dict that fails to load"
    DRAWN = "drawing"
    REFUSAL = "invalid arguments that are not refused as required"
    CLAIM = "any other requirement of a test"

    @property
    def precedes_gradients(self) -> bool:
        """True if a test that finds this flaw stops before comparing gradients and side effects."""
        return self in (Flaw.VALUE, Flaw.KIND, Flaw.DRAWN, Flaw.REFUSAL)

    @property
    def independent_of_values(self) -> bool:
        """True if a result with this flaw is wrong regardless of its values."""
        return self not in (Flaw.VALUE, Flaw.GRADIENT, Flaw.CLAIM)


class Outcome(Exception):
    """Base class of the exceptions that end a hidden test. `disk_cache` needs direct subclasses.

    flaw:   the property of the result that made the test fail; CLAIM for other verdicts
    line:   the line of the student's module at which the test ended, or 0 if it is unknown
    raised: the exception in the student's code that ended the test, or None if there was none
    """

    verdict: ClassVar[Verdict]
    raised: Raised | None = None

    def __init__(self, message: str = "", flaw: Flaw = Flaw.CLAIM, line: int | None = None) -> None:
        super().__init__(message)
        self.flaw, self.line = flaw, line or 0

    @property
    def message(self) -> str:
        return printable(str(self.args[0])) if self.args else ""


Answers = Sequence[Answer | Outcome]  # to the calls of one hidden test


def printable(text: str) -> str:
    """Replace unprintable characters except newlines, and truncate the text to 2000 characters."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text[:_MAX_LENGTH])


class Unwritten(Outcome):
    verdict = Verdict.UNWRITTEN


class Wrong(Outcome):
    """The result does not meet a requirement of the test."""

    verdict = Verdict.WRONG


class Forbidden(Outcome):
    verdict = Verdict.FORBIDDEN


class Crashed(Outcome):
    verdict = Verdict.CRASHED


class TimedOut(Outcome):
    verdict = Verdict.TIMEOUT


class LimitExceeded(Outcome):
    verdict = Verdict.LIMIT


class BadReply(Outcome):
    verdict = Verdict.BAD_REPLY


class NotRun(Outcome):
    verdict = Verdict.NOT_RUN


class GraderFault(Exception):
    """A bug in the grading system: in the sandbox, the reference or a hidden test."""


class Unseeded(GraderFault):
    """Raised if a hidden test makes different calls after receiving the same replies."""


def clear_frames(error: BaseException | None) -> None:
    """Clear the frames of a chain of exceptions, because frames keep local variables alive."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None
        error = error.__context__


class BestEffort:
    """Runs optional steps and collects their errors in `failures`.

    end_sandbox: ends the sandbox after an EngineError, so that the next step starts a new one; None
                 if there is no sandbox
    """

    def __init__(self, end_sandbox: Callable[[], None] | None) -> None:
        self._end_sandbox = end_sandbox
        self.failures: list[str] = []

    def run(self, description: str, step: Callable[[], Result], default: Result) -> Result:
        """Return the step's result; if the step raises, record the error and return `default`."""
        try:
            return step()
        except Exception as error:
            self.failures.append(printable(f"{description}: {type(error).__name__}: {error}"))
            clear_frames(error)
            if self._end_sandbox is not None and isinstance(error, EngineError):
                self._end_sandbox()
            return default
