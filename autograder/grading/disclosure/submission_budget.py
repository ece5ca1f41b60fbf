"""The leak budget of a whole report.

Theory of operation. Graded code sees hidden inputs and can choose the content of its report: which
error it raises and where, which misconception it imitates, which line a search finds. The pass or
failure of each test is always reported. Everything else in a report is a choice among values known
to the trusted side, costs a known number of bits, and is charged to one budget: misconceptions,
suspicious lines, messages, and which tests end with which message. A test whose message exceeds the
budget still fails, with a message that it is not described.

A test that ends like c of the last t failed tests of its exercise costs log2((t + 1) / c) bits, so
a program that always fails in the same way pays next to nothing. A message of an earlier exercise
costs little if only the name of the exercise differs. The misconceptions, lines and first messages
of all exercises are charged before any second message; second messages start with the exercises
whose tests fail in few ways. After the first item that exceeds the budget, the rest is hidden.
"""

from __future__ import annotations

import math
from collections import Counter

import msgspec

from ...model.report.comparison import NOT_DESCRIBED, failure_key
from ...model.report.schema import Diagnosis, ExerciseReport, SubmissionReport, TestReport, Verdict
from .leak_budget import MOST_BITS
from .raising_lines import raising_lines

SUBMISSION_BITS = 512
_MESSAGE = MOST_BITS + 2.5  # including whether it is new, and whether its numbers differ
_UNNAMED = "another mistake"
_NAMES = 4096  # number of misconceptions, and of symptoms with their tests
_KINDS = 128  # number of kinds of suspicious lines

Ending = tuple[Verdict, str, int]  # verdict, message and line of a failed test


def limit_disclosure(
    report: SubmissionReport, source: tuple[str, ...], bits: float = SUBMISSION_BITS
) -> SubmissionReport:
    """Return the report without the parts that exceed the budget.

    source: the lines of the submission's module
    """
    budget = _Budget(bits)
    helpers = sum(len({*e.inherits, *e.beside}) for e in report.exercises)
    budget.afford(helpers * math.log2(1 + len(report.exercises)))
    exercises = [_with_names(e, budget) for e in report.exercises]
    exercises = [_with_suspects(e, source, budget) for e in exercises]
    described = [_first_described(e, budget) for e in exercises]
    # The order of the charges is a choice of the submission too.
    budget.afford(math.log2(math.factorial(len(exercises))))
    for place in sorted(range(len(exercises)), key=lambda n: _endings(exercises[n])):
        exercises[place] = _with_messages(exercises[place], described[place], budget)
    return msgspec.structs.replace(report, exercises=tuple(exercises))


class _Budget:
    """The remaining bits of a report, or none after the first cost that was too high."""

    def __init__(self, bits: float) -> None:
        self._left = bits
        self._messages: set[Ending] = set()

    def afford(self, bits: float) -> bool:
        """Charge this number of bits; return False if they exceed the budget."""
        self._left = self._left - bits if bits <= self._left else -1.0
        return self._left >= 0.0

    def message(self, exercise: str, test: TestReport) -> float:
        """Return the cost of a message that is new in its exercise, and store the message."""
        plain = test.verdict, test.message.replace(f"`{exercise}", "`"), test.line
        known = plain in self._messages
        cost = 2.0 + math.log2(len(self._messages)) if known else _MESSAGE
        self._messages.add(plain)
        return cost


def _with_names(report: ExerciseReport, budget: _Budget) -> ExerciseReport:
    paid: list[Diagnosis] = []
    for one in report.explained:
        # the name, the number of tests, `mostly`, and whether it decides the points
        if budget.afford(math.log2(_NAMES * (1 + one.of) ** 2) + 2):
            paid.append(one)
    hidden = {d.name for d in report.explained} - {d.name for d in paid}
    return msgspec.structs.replace(
        report,
        explained=tuple(paid),
        diagnosis=tuple(name for name in report.diagnosis if name not in hidden),
        deductions=tuple(
            msgspec.structs.replace(d, name=_UNNAMED) if d.name in hidden else d
            for d in report.deductions
        ),
    )


def _with_suspects(
    report: ExerciseReport, source: tuple[str, ...], budget: _Budget
) -> ExerciseReport:
    if not report.suspects:
        return report
    lines, tests = 1 + len(raising_lines(source)), 1 + len(report.tests)
    cost = math.log2(_KINDS * lines * tests) + 1  # the last bit: whether it is the only one
    paid = tuple(one for one in report.suspects if budget.afford(cost))
    return msgspec.structs.replace(report, suspects=paid)


def _first_described(report: ExerciseReport, budget: _Budget) -> int | None:
    """Charge an exercise's first message and return its test: a forbidden call, or the first
    failure. Return None if there is no failure or the budget is too small."""
    failed = [n for n, t in enumerate(report.tests) if t.verdict.failed and not t.carried]
    forbidden = (n for n in failed if report.tests[n].verdict is Verdict.FORBIDDEN)
    first = next(forbidden, failed[0] if failed else None)
    if first is None or not budget.afford(budget.message(report.name, report.tests[first])):
        return None
    return first


def _with_messages(report: ExerciseReport, first: int | None, budget: _Budget) -> ExerciseReport:
    """Return the report with the messages within the budget; `first` is already charged."""
    tests = list(report.tests)
    endings: Counter[Ending] = Counter()
    described = {_ending(tests[first])} if first is not None else set()
    for place, test in enumerate(tests):
        if not test.verdict.failed or test.carried:
            continue
        ending, total = _ending(test), endings.total() + 1
        cost = math.log2(total / max(endings[ending], 1))
        if ending not in described:
            cost += budget.message(report.name, test)
        if place == first or budget.afford(cost):
            endings[ending] += 1
            described.add(ending)
        else:
            tests[place] = msgspec.structs.replace(
                test, verdict=Verdict.WRONG, message=NOT_DESCRIBED, line=0
            )
    return msgspec.structs.replace(report, tests=tuple(tests))


def _endings(report: ExerciseReport) -> int:
    """Return the number of different ways in which the failed tests of an exercise ended."""
    return len({_ending(t) for t in report.tests if t.verdict.failed and not t.carried})


def _ending(test: TestReport) -> Ending:
    return (*failure_key(test), test.line)
