"""How a hidden test can end other than by passing.

    Outcome
    ├── Unwritten      the stub's own NotImplementedError
    ├── Wrong          the result is not what the exercise asks for
    ├── Forbidden      a call that is not allowed was made
    ├── Crashed        the student's code raised, is missing, or ended its process
    ├── TimedOut       a call took longer than it may
    ├── LimitExceeded  memory, disk, processes or the size of a reply
    ├── BadReply       what came back is not plain data, or no frame at all
    └── NotRun         cannot be tried here; costs nothing and earns nothing

Anything else that a hidden test lets out is a fault of the test: `grader_fault`.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from ..model.report.verdicts import Verdict

_LONGEST = 2_000


class Outcome(Exception):
    """Ends a hidden test with a verdict and a message for the student.

    `line`: where in the student's module it happened, 0 if that is not known.
    """

    verdict: ClassVar[Verdict]

    def __init__(self, message: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.line = line or 0

    @property
    def message(self) -> str:
        return printable(str(self.args[0])) if self.args else ""


def printable(text: str) -> str:
    """Text without control characters, cut to a readable length."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text[:_LONGEST])


class Unwritten(Outcome):
    verdict = Verdict.UNWRITTEN


class Flaw(Enum):
    """What is wrong with a result."""

    VALUE = "it has other values"
    KIND = "it has another type, shape, dtype or number of parts"
    GRADIENT = "it has another gradient"
    DETACHED = "it carries no gradient"
    EFFECT = "something of the caller's was changed"
    DEVICE = "it lies on another device"
    STATE = "a state dict does not fit"
    DRAWN = "it is drawn in another way"
    REFUSAL = "arguments are not refused as they should be"
    CLAIM = "a claim of the test's own does not hold"

    @property
    def stops_at_values(self) -> bool:
        """Return whether nobody looked at gradients or at the caller's arguments any more."""
        return self in (Flaw.VALUE, Flaw.KIND, Flaw.DRAWN, Flaw.REFUSAL)

    @property
    def tells_by_itself(self) -> bool:
        """Return whether this is a mistake of its own, whatever the values are."""
        return self not in (Flaw.VALUE, Flaw.GRADIENT, Flaw.CLAIM)


class Wrong(Outcome):
    """A claim that does not hold: the test fails with this message."""

    verdict = Verdict.WRONG

    def __init__(self, message: str = "", flaw: Flaw = Flaw.CLAIM) -> None:
        super().__init__(message)
        self.flaw = flaw


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
    """A fault of ours: the sandbox broke, the reference failed, a grader misused a fixture."""


class Unseeded(GraderFault):
    """A hidden test that asks something else after the same answers."""
