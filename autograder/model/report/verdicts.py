"""The verdicts of hidden tests and of whole submissions.

Every decision that depends on a verdict is an attribute of its member, so a new verdict states all
of them in one line.
"""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """How one hidden test ended.

    words: the verdict as students read it
    failed: whether the test counts and did not pass
    stopped: whether the code was stopped at some line, before it returned a result
    """

    words: str
    failed: bool
    stopped: bool

    PASS = "pass", "Passed", False, False
    UNWRITTEN = "unwritten", "Not written yet", True, False
    WRONG = "wrong", "Wrong result", True, False
    FORBIDDEN = "forbidden", "Forbidden call", True, True
    CRASHED = "crashed", "Stopped with an error", True, True
    TIMEOUT = "timeout", "Took too long", True, True
    LIMIT = "limit", "Used more memory than allowed", True, True
    BAD_REPLY = "bad_reply", "Returned something that could not be read", True, False
    REFUSED = "refused", "Not accepted", True, False
    NOT_RUN = "not_run", "Not run", False, False
    GRADER_FAULT = "grader_fault", "An error of the grading system, not yours", False, False

    def __new__(cls, value: str, words: str, failed: bool, stopped: bool) -> Verdict:
        member = str.__new__(cls, value)
        member._value_ = value
        member.words, member.failed, member.stopped = words, failed, stopped
        return member

    @property
    def counted(self) -> bool:
        """True if the test's weight counts: it ran, and the grading system was not at fault."""
        return self is Verdict.PASS or self.failed

    @property
    def attempted(self) -> bool:
        """True if the test ran code that the student wrote."""
        return self is Verdict.PASS or (self.reported and self is not Verdict.UNWRITTEN)

    @property
    def reported(self) -> bool:
        """True if feedback mentions the test: it failed, or the grading system was at fault."""
        return self.failed or self is Verdict.GRADER_FAULT

    @property
    def has_answer(self) -> bool:
        """True if the test failed, but its last call returned something."""
        return self in (Verdict.WRONG, Verdict.FORBIDDEN)

    @property
    def exceeds_a_bound(self) -> bool:
        """True if the code exceeded a limit or broke the protocol: it may not terminate."""
        return self in (Verdict.TIMEOUT, Verdict.LIMIT, Verdict.BAD_REPLY)

    @property
    def can_change(self) -> bool:
        """True if the test may end differently with correct helpers, in bounded time."""
        return self in (Verdict.PASS, Verdict.CRASHED, Verdict.LIMIT) or self.has_answer

    @property
    def follows_from_answers(self) -> bool:
        """True if equal answers always lead to this verdict, so that it can be stored for them."""
        return self in (Verdict.PASS, Verdict.WRONG)


class Ending(StrEnum):
    """How the grading of a whole submission ended."""

    GRADED = "graded"
    REFUSED = "refused"
    GRADER_FAULT = "grader_fault"
