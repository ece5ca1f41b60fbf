"""How a hidden test ends, and how a submission does: values with their words, decided once.

Whatever asks "did it fail", "does it count" or "what is it called" asks the value. A new verdict
is one line in each of the two tables here, and the type checker finds what else must know it.
"""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """How one hidden test ended."""

    PASS = "pass"
    UNWRITTEN = "unwritten"
    WRONG = "wrong"
    FORBIDDEN = "forbidden"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    LIMIT = "limit"
    BAD_REPLY = "bad_reply"
    REFUSED = "refused"
    NOT_RUN = "not_run"
    GRADER_FAULT = "grader_fault"

    @property
    def counted(self) -> bool:
        """Return whether the test's weight counts: it ran, and the fault was not ours."""
        return self not in _NOT_COUNTED

    @property
    def failed(self) -> bool:
        """Return whether the test counts and did not pass."""
        return self not in _NOT_FAILED

    @property
    def a_finding(self) -> bool:
        """Return whether feedback has to speak of it: it failed, or the fault was ours."""
        return self.failed or self is Verdict.GRADER_FAULT

    @property
    def words(self) -> str:
        """What a student reads."""
        return _WORDS[self]


_NOT_COUNTED = frozenset((Verdict.NOT_RUN, Verdict.GRADER_FAULT))
_NOT_FAILED = _NOT_COUNTED | {Verdict.PASS}
_WORDS = {
    Verdict.PASS: "holds",
    Verdict.UNWRITTEN: "Not written yet",
    Verdict.WRONG: "Wrong result",
    Verdict.FORBIDDEN: "A call that is not allowed",
    Verdict.CRASHED: "Stopped with an error",
    Verdict.TIMEOUT: "Took too long",
    Verdict.LIMIT: "Used more memory than allowed",
    Verdict.BAD_REPLY: "Returned something that could not be read",
    Verdict.REFUSED: "Not accepted",
    Verdict.NOT_RUN: "Not run",
    Verdict.GRADER_FAULT: "A fault of the grading system, not yours",
}


class Ending(StrEnum):
    """How the grading of a whole submission ended."""

    GRADED = "graded"
    REFUSED = "refused"
    GRADER_FAULT = "grader_fault"
