"""The verdicts of hidden tests and of whole submissions.

Every decision that depends on a verdict is a property of `Verdict`, or a `match` over all verdicts
that ends in `assert_never`. So mypy lists every place that has to handle a new verdict.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


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
        """True if the test's weight counts: it ran, and the grading system was not at fault."""
        return self is Verdict.PASS or self.failed

    @property
    def failed(self) -> bool:
        """True if the test counts and did not pass."""
        return self is Verdict.UNWRITTEN or self._rejects_an_attempt

    @property
    def attempted(self) -> bool:
        """True if the test ran code that the student wrote."""
        return self is Verdict.PASS or (self.reported and self is not Verdict.UNWRITTEN)

    @property
    def reported(self) -> bool:
        """True if feedback mentions the test: it failed, or the grading system was at fault."""
        return self.failed or self is Verdict.GRADER_FAULT

    @property
    def stopped(self) -> bool:
        """True if the code was stopped at some line, before it returned a result."""
        match self:
            case Verdict.CRASHED | Verdict.FORBIDDEN | Verdict.TIMEOUT | Verdict.LIMIT:
                return True
            case Verdict.PASS | Verdict.WRONG | Verdict.BAD_REPLY | Verdict.REFUSED:
                return False
            case Verdict.UNWRITTEN | Verdict.NOT_RUN | Verdict.GRADER_FAULT:
                return False
            case _:
                assert_never(self)

    @property
    def follows_from_answers(self) -> bool:
        """True if equal answers always lead to this verdict, so that it can be stored for them."""
        match self:
            case Verdict.PASS | Verdict.WRONG:
                return True
            case Verdict.CRASHED | Verdict.FORBIDDEN | Verdict.TIMEOUT | Verdict.LIMIT:
                return False
            case Verdict.BAD_REPLY | Verdict.REFUSED | Verdict.UNWRITTEN:
                return False
            case Verdict.NOT_RUN | Verdict.GRADER_FAULT:
                return False
            case _:
                assert_never(self)

    @property
    def _rejects_an_attempt(self) -> bool:
        match self:
            case Verdict.PASS | Verdict.UNWRITTEN | Verdict.NOT_RUN | Verdict.GRADER_FAULT:
                return False
            case Verdict.WRONG | Verdict.FORBIDDEN | Verdict.CRASHED | Verdict.REFUSED:
                return True
            case Verdict.TIMEOUT | Verdict.LIMIT | Verdict.BAD_REPLY:
                return True
            case _:
                assert_never(self)

    @property
    def words(self) -> str:
        """The verdict as students read it."""
        match self:
            case Verdict.PASS:
                return "Passed"
            case Verdict.UNWRITTEN:
                return "Not written yet"
            case Verdict.WRONG:
                return "Wrong result"
            case Verdict.FORBIDDEN:
                return "Forbidden call"
            case Verdict.CRASHED:
                return "Stopped with an error"
            case Verdict.TIMEOUT:
                return "Took too long"
            case Verdict.LIMIT:
                return "Used more memory than allowed"
            case Verdict.BAD_REPLY:
                return "Returned something that could not be read"
            case Verdict.REFUSED:
                return "Not accepted"
            case Verdict.NOT_RUN:
                return "Not run"
            case Verdict.GRADER_FAULT:
                return "An error of the grading system, not yours"
            case _:
                assert_never(self)


class Ending(StrEnum):
    """How the grading of a whole submission ended."""

    GRADED = "graded"
    REFUSED = "refused"
    GRADER_FAULT = "grader_fault"
