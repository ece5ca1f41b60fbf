"""Limit how many bits about hidden inputs a message and a whole report can reveal.

Theory of operation. A submission knows the hidden inputs when it chooses which exception to raise,
on which line, with which names and numbers, or which misconception to imitate. It can only choose
among values that the trusted side knows, so a choice reveals log2(number of values) bits. Details
that exceed a budget are left out or replaced by `?`.

A message has fewer than 32 bits, so it cannot contain a hidden float32. An honest message makes few
choices and stays within the budget. A number is known if it is a size in the test's arguments (or a
product of neighbouring sizes), an index from -3 to 3, or a literal in the student's source. The
more literals the source contains, the more bits each costs, so a long table reveals no more.
An exception can claim any line (`SyntaxError.lineno`, a code object's first line), so a message
contains a line number only if Python can raise on that line (`raising_lines`).

A report has one budget for its misconceptions, helpers, headlines, suspicious lines and messages,
and for the assignment of messages to tests. Whether a test passes is always reported: a failed test
whose message exceeds the budget has no description. A test that ends like c of the t failed tests
before it in its exercise costs log2((t + 1) / max(c, 1)) bits, so a program that always fails in
the same way pays almost nothing. A message that differs from one of an earlier exercise only in the
name of the exercise costs little. Unwritten exercises are charged first, then the helpers,
misconceptions, lines and first messages of the others, then the other messages, starting with the
exercise whose tests fail in the fewest ways. All items after the first one over budget are hidden.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from ...model.report.schema import (
    NOT_DESCRIBED,
    Diagnosis,
    ExerciseReport,
    SubmissionReport,
    TestReport,
    Verdict,
)
from ...repair.source_text import UNPARSABLE, parsed

MOST_BITS = 31.5
UNKNOWN = "?"
HINTS = 16  # number of sentences that can describe a difference
ROUGH = 1024  # number of values that `rough` can return
_INDICES = frozenset(range(-3, 4))
_INTEGER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")

# Number of different messages about each kind of result.
DRAWINGS = 32  # differences between drawings
TEXTS = 16  # differences between texts or mappings
VALUES = 16 * 11  # combinations of a wrong value's index and a count in tenths


class MessageBudget:
    """The bits that a message may still spend after a first choice among `paid` alternatives."""

    def __init__(self, paid: int = 1) -> None:
        self.left = MOST_BITS
        self.afford(paid)

    def afford(self, choices: int, flag: float = 0.0) -> bool:
        """Charge one choice among `choices` values; return False if it exceeds the budget.

        flag: additional bits that distinguish this kind of choice from other kinds
        """
        cost = flag + math.log2(max(choices, 1))
        if cost > self.left:
            return False
        self.left -= cost
        return True

    def choose(self, value: Hashable, groups: Iterable[tuple[Collection[object], float]]) -> bool:
        """Charge a choice from the first group that contains the value and is affordable.

        Return False if there is no such group.

        groups: sets of known values, each with the bits that distinguish it from the other sets
        """
        return any(self.afford(len(known), flag) for known, flag in groups if value in known)


def with_products(shapes: Iterable[tuple[int, ...]]) -> frozenset[int]:
    """Return all sizes in the shapes, and the products of neighbouring sizes."""
    found: set[int] = set()
    for shape in shapes:
        for first in range(len(shape)):
            found.update(math.prod(shape[first:last]) for last in range(first + 1, len(shape) + 1))
    return frozenset(found)


@lru_cache(maxsize=8)
def _literals(source: tuple[str, ...]) -> frozenset[int]:
    return frozenset(int(n) for line in source for n in _INTEGER.findall(line))


def number(text: str, budget: MessageBudget, sizes: frozenset[int], source: tuple[str, ...]) -> str:
    """Charge a number in an error message; return `?` instead if it is unknown or over budget."""
    own = _literals(source)
    groups = ((sizes, 0.6), (_INDICES, 1.8), (own | {-n for n in own}, 4.3))
    return text if budget.choose(int(text), groups) else UNKNOWN


def shape(actual: tuple[int, ...], expected: tuple[int, ...], budget: MessageBudget) -> str:
    """Describe a wrong shape, with `?` for sizes over budget or unrelated to the expected shape."""
    known = with_products([expected])
    known |= {n + d for n in expected for d in (-1, 1)} | {2 * n for n in expected} | {0, 1, 2, 3}
    if len(actual) > 6 or not budget.afford(7):
        return "a different number of axes"
    parts = []
    for axis, extent in enumerate(actual):
        right = axis < len(expected) and extent == expected[axis]
        choice = (1, 0.5) if right else (len(known), 1.8)
        affordable = (right or extent in known) and budget.afford(*choice)
        parts.append(str(extent) if affordable else UNKNOWN)
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def count_of(count: int, total: int, budget: MessageBudget) -> str:
    """Describe a count of entries, rounded to tenths of the total if the count is over budget."""
    if budget.afford(total):
        return f"{count} of {total} entries"
    tenths = min(max(round(10 * count / total), 1), 9)
    return f"about {tenths} in 10 of {total} entries"


def few(count: int, most: int = 9, budget: MessageBudget | None = None) -> str:
    """Return a count, "more than {most}" if it is larger, or a vague phrase if over budget."""
    if budget is not None and not budget.afford(most + 2):
        return "a different number"
    return str(count) if 0 <= count <= most else f"more than {most}"


def rough(value: float) -> str:
    """Return a sum to two significant digits, or words if it is tiny, 1000 or more, or NaN."""
    size = abs(value)
    if size == 0 or 0.01 <= size < 1000:
        return f"{value:.2g}" if size < 100 else str(round(value, -1)).removesuffix(".0")
    return "far less" if size < 1 else "far more" if size >= 1000 else "no number"


SUBMISSION_BITS = 512
_MESSAGE = MOST_BITS + 2.5  # includes the flags "is new" and "has different numbers"
_UNNAMED = "another mistake"
_NAMES = 4096  # number of names that a diagnosis can choose among
_KINDS = 128  # number of kinds of suspicious lines to choose among

FailureKey = tuple[Verdict, str, int]  # verdict, message and line of a failed test


def limit_disclosure(report: SubmissionReport, source: tuple[str, ...]) -> SubmissionReport:
    """Return a copy of the report without the parts that exceed the budget.

    source: the lines of the submission's module
    """
    budget = _Budget(len(raising_lines(source)))
    helpers = sum(len({*e.inherits, *e.beside}) for e in report.exercises)
    budget.afford(helpers * math.log2(1 + len(report.exercises)))
    exercises = [_with_messages(e, None, budget) if e.unwritten else e for e in report.exercises]
    exercises = [_with_names(e, budget) for e in exercises]
    exercises = [_with_suspects(e, source, budget) for e in exercises]
    exercises = [_with_example(e, budget) for e in exercises]
    described = [None if e.unwritten else _first_described(e, budget) for e in exercises]
    written = [place for place, e in enumerate(exercises) if not e.unwritten]
    # The submission determines the order of the exercises, which is therefore charged too.
    budget.afford(math.log2(math.factorial(len(exercises))))
    for place in sorted(written, key=lambda n: _endings(exercises[n])):
        exercises[place] = _with_messages(exercises[place], described[place], budget)
    return replace(report, exercises=tuple(exercises))


class _Budget:
    """The bits that a report may still spend. The first cost that is too high exhausts them."""

    def __init__(self, lines: int) -> None:
        self._left: float = SUBMISSION_BITS
        self._unwritten = 4.0 + math.log2(1 + lines)  # the line determines the rest of the message
        self._messages: set[FailureKey] = set()

    def afford(self, bits: float) -> bool:
        """Charge this number of bits; return False if they exceed the budget."""
        self._left = self._left - bits if bits <= self._left else -1.0
        return self._left >= 0.0

    def message(self, exercise: str, test: TestReport) -> float:
        """Record a message that its exercise has not had before, and return its cost in bits."""
        plain = test.verdict, test.message.replace(f"`{exercise}", "`"), test.line
        known = plain in self._messages
        new = self._unwritten if test.verdict is Verdict.UNWRITTEN else _MESSAGE
        cost = 2.0 + math.log2(len(self._messages)) if known else new
        self._messages.add(plain)
        return cost


def _with_names(report: ExerciseReport, budget: _Budget) -> ExerciseReport:
    paid: list[Diagnosis] = []
    for one in report.explained:
        # Charge the name, both numbers of tests, `mostly`, and whether it determines the score.
        if budget.afford(math.log2(_NAMES * (1 + one.of) ** 2) + 2):
            paid.append(one)
    hidden = {d.name for d in report.explained} - {d.name for d in paid}
    return replace(
        report,
        explained=tuple(paid),
        diagnosis=tuple(name for name in report.diagnosis if name not in hidden),
        deductions=tuple(
            replace(d, name=_UNNAMED) if d.name in hidden else d for d in report.deductions
        ),
    )


def _with_suspects(
    report: ExerciseReport, source: tuple[str, ...], budget: _Budget
) -> ExerciseReport:
    if not report.suspects:
        return report
    lines, tests = 1 + len(raising_lines(source)), 1 + len(report.tests)
    cost = math.log2(_KINDS * lines * tests) + 1  # one bit for `alone`
    paid = tuple(one for one in report.suspects if budget.afford(cost))
    return replace(report, suspects=paid)


def _with_example(report: ExerciseReport, budget: _Budget) -> ExerciseReport:
    """Charge the counterexample, which depends on hidden inputs only by the tests that fail."""
    cost = math.log2(1 + len(report.tests))
    if report.counterexample is None or budget.afford(cost):
        return report
    return replace(report, counterexample=None)


def _first_described(report: ExerciseReport, budget: _Budget) -> int | None:
    """Charge the first message of an exercise, and return the index of the message's test.

    A message about a broken rule takes precedence, and then that of the headline, whose choice is
    charged too. Return None if no test failed or the budget is too small.
    """
    failed = [n for n, t in enumerate(report.tests) if t.verdict.failed and not t.carried]
    rule_breaking = [n for n in failed if report.tests[n].verdict.breaks_a_rule]
    headline = [n for n in failed if report.tests[n].name == report.headline]
    first = next(iter([*rule_breaking, *headline, *failed]), None)
    if first is None:
        return None
    choice = 1.0 + (math.log2(len(failed)) if headline else 0.0)
    cost = choice + budget.message(report.name, report.tests[first])
    return first if budget.afford(cost) else None


def _with_messages(report: ExerciseReport, first: int | None, budget: _Budget) -> ExerciseReport:
    """Hide messages that exceed the budget. `first`: index of an already charged test, or None."""
    tests = list(report.tests)
    endings: Counter[FailureKey] = Counter()
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
            tests[place] = replace(test, verdict=Verdict.WRONG, message=NOT_DESCRIBED, line=0)
    return replace(report, tests=tuple(tests))


def _endings(report: ExerciseReport) -> int:
    """Count the ways in which tests of an exercise fail, by verdict, message and line."""
    return len({_ending(t) for t in report.tests if t.verdict.failed and not t.carried})


def _ending(test: TestReport) -> FailureKey:
    return (*test.failure_key, test.line)


@lru_cache(maxsize=8)
def raising_lines(source: tuple[str, ...]) -> frozenset[int]:
    """Return the lines that can raise an exception; only the syntax error's line if there is one.

    The result is empty if the source cannot be parsed for a different reason.
    """
    try:
        return frozenset(_lines(parsed("\n".join(source)).tree))
    except SyntaxError as error:
        return frozenset([error.lineno] if error.lineno else [])
    except UNPARSABLE:
        return frozenset()


def _lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not (isinstance(node, ast.Pass) or is_docstring):
                yield node.lineno
        elif isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            yield node.lineno
            if isinstance(node, ast.Attribute) and node.end_lineno:
                yield node.end_lineno  # Python reports this line for a call in a method chain
