"""One ration of bits for everything that a submission can choose to show its author.

Theory of operation. Code that is graded sees hidden inputs, and can choose by them what its report
says: which error it raises and where, which mistake it imitates, which line a search finds. Whether
each test passes is always reported. Everything else in a report is a choice among what the trusted
side knows, has a length in bits, and is paid from one ration: misconceptions, suspected lines,
messages, and which tests end with which message. What the ration does not pay for is left out: the
test still fails, and its message says that it is not described.

An ending that c of the last t failed tests of an exercise had costs log2((t + 1) / c) bits, so a
program that always fails in the same way pays next to nothing. Nor does a message cost much that an
earlier exercise had with its own name. Every exercise's misconceptions, lines and first message are
paid before any second message, and exercises whose tests fail in few ways before the others. After
the first cost that is too high nothing more is shown.
"""

from __future__ import annotations

import math
from collections import Counter

import msgspec

from ...model.report.failure_groups import NOT_DESCRIBED, failure_key
from ...model.report.schema import Diagnosis, ExerciseReport, SubmissionReport, Suspect, TestReport
from ...model.report.verdicts import Verdict
from .leak_budget import MOST_BITS
from .raising_lines import raising_lines

SUBMISSION_BITS = 512
_MESSAGE = MOST_BITS + 2.5  # beside its words: whether it was there before, and other numbers are
_ANOTHER = "another mistake"
_NAMES = 4096  # misconceptions to choose from, and symptoms with the tests that show them
_KINDS = 128  # of suspects

Ending = tuple[Verdict, str, int]  # how a failed test ended: its verdict, message and line


class Disclosure:
    """What is left of a submission's ration; nothing once a cost was too high."""

    def __init__(self, bits: float = SUBMISSION_BITS) -> None:
        self.left = bits
        self._messages: set[Ending] = set()

    def message(self, exercise: str, test: TestReport) -> float:
        """Return what the message of a new ending in an exercise costs, and remember it."""
        plain = test.verdict, test.message.replace(f"`{exercise}", "`"), test.line
        known = plain in self._messages
        cost = 2.0 + math.log2(len(self._messages)) if known else _MESSAGE
        self._messages.add(plain)
        return cost

    def pay(self, bits: float) -> bool:
        """Return True if the ration pays for this choice."""
        self.left = self.left - bits if bits <= self.left else -1.0
        return self.left >= 0.0


def rationed(
    report: SubmissionReport, source: tuple[str, ...], bits: float = SUBMISSION_BITS
) -> SubmissionReport:
    """Return the report with what its ration pays for.

    source: the lines of the module
    """
    ration = Disclosure(bits)
    helpers = sum(len({*e.inherits, *e.beside}) for e in report.exercises)
    ration.pay(helpers * math.log2(1 + len(report.exercises)))
    exercises = [_with_names(e, ration) for e in report.exercises]
    exercises = [_with_suspects(e, source, ration) for e in exercises]
    begun = [_first(e) for e in exercises]
    paid = [
        first is not None and ration.pay(ration.message(e.name, e.tests[first]))
        for e, first in zip(exercises, begun, strict=True)
    ]
    # one exercise whose tests all end differently does not take the words from the others
    ration.pay(math.log2(math.factorial(len(exercises))))
    for place in sorted(range(len(exercises)), key=lambda n: _endings(exercises[n])):
        first = begun[place] if paid[place] else None
        exercises[place] = _with_messages(exercises[place], first, ration)
    return msgspec.structs.replace(report, exercises=tuple(exercises))


def _with_names(report: ExerciseReport, ration: Disclosure) -> ExerciseReport:
    shown: list[Diagnosis] = []
    for one in report.explained:
        # its name, how much it explains, whether mostly, and whether it decides the points
        if ration.pay(math.log2(_NAMES * (1 + one.of) ** 2) + 2):
            shown.append(one)
    hidden = {d.name for d in report.explained} - {d.name for d in shown}
    return msgspec.structs.replace(
        report,
        explained=tuple(shown),
        diagnosis=tuple(name for name in report.diagnosis if name not in hidden),
        deductions=tuple(
            msgspec.structs.replace(d, name=_ANOTHER) if d.name in hidden else d
            for d in report.deductions
        ),
    )


def _with_suspects(
    report: ExerciseReport, source: tuple[str, ...], ration: Disclosure
) -> ExerciseReport:
    shown: list[Suspect] = []
    for one in report.suspects:
        lines, tests = 1 + len(raising_lines(source)), 1 + len(report.tests)
        if ration.pay(math.log2(_KINDS * lines * tests) + 1):  # and whether it is alone
            shown.append(one)
    return msgspec.structs.replace(report, suspects=tuple(shown))


def _first(report: ExerciseReport) -> int | None:
    """Return which test to describe first: a call that is not allowed, else the first failure."""
    failed = [n for n, t in enumerate(report.tests) if t.verdict.failed and not t.carried]
    forbidden = (n for n in failed if report.tests[n].verdict is Verdict.FORBIDDEN)
    return next(forbidden, failed[0] if failed else None)


def _with_messages(report: ExerciseReport, first: int | None, ration: Disclosure) -> ExerciseReport:
    """Return the report in which tests are described as far as the ration pays for it.

    first: the test whose message is paid already, None if the ration did not last for it
    """
    tests = list(report.tests)
    endings: Counter[Ending] = Counter()
    begun = {_ending(tests[first])} if first is not None else set()
    for place, test in enumerate(tests):
        if not test.verdict.failed or test.carried:
            continue
        ending, total = _ending(test), endings.total() + 1
        cost = math.log2(total / max(endings[ending], 1))
        if ending not in begun:
            cost += ration.message(report.name, test)
        if place == first or ration.pay(cost):
            endings[ending] += 1
            begun.add(ending)
        else:
            tests[place] = msgspec.structs.replace(
                test, verdict=Verdict.WRONG, message=NOT_DESCRIBED, line=0
            )
    return msgspec.structs.replace(report, tests=tuple(tests))


def _endings(report: ExerciseReport) -> int:
    """Return in how many different ways the failed tests of an exercise ended."""
    return len({_ending(t) for t in report.tests if t.verdict.failed and not t.carried})


def _ending(test: TestReport) -> Ending:
    return (*failure_key(test), test.line)
