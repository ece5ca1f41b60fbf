"""The content of a feedback page, before it becomes HTML.

A report lists hidden tests; a student reads by cause. So tests that fail with the same message, up
to its numbers, become one finding with their claims, and the axes of a test (`test_x[float16-cpu]`)
become cells of a small grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model.device_axes import AXES
from ..model.report.failure_groups import NOT_DESCRIBED, failure_key
from ..model.report.schema import ExerciseReport, TestReport, axes_of
from ..model.report.verdicts import Verdict
from ..worker.protocol.dtypes import TEST_DTYPES, TORCH_ITEM_BYTES
from .score_breakdown import ArithmeticLine, arithmetic, carried_words
from .suspect_lines import location_sentence

DTYPES = tuple(sorted(TEST_DTYPES, key=TORCH_ITEM_BYTES.__getitem__))
DEVICES = tuple(AXES)
_AXES = re.compile(rf"(?<!\w)({'|'.join((*DTYPES, *DEVICES))})(?!\w)")


@dataclass(frozen=True)
class Claim:
    """The requirement that a test checks, and its variants if only some of them failed."""

    text: str
    where: str = ""


@dataclass
class Finding:
    """One cause: a verdict with its message, and the claims of the tests that it fails.

    Only the first claim is known to fail. The tests of an exercise begin with the simplest one; a
    later test that fails in the same way does not reach its own requirement.
    """

    verdict: Verdict
    message: str
    line: int = 0  # of the student's module; 0 if unknown
    claims: list[Claim] = field(default_factory=list)
    varies: bool = False  # other checks fail with different numbers
    same_as: str = ""  # the earlier exercise that fails for the same reason

    @property
    def cause(self) -> tuple[Verdict, int] | None:
        """Return the verdict and line that stopped the test, or None if no line did."""
        stopped = self.line and self.verdict is not Verdict.UNWRITTEN
        return (self.verdict, self.line) if stopped else None

    @property
    def failed(self) -> list[Claim]:
        """Return the claim that fails, or all claims if the student's code is not the reason."""
        return self.claims[:1] if self.verdict.failed else self.claims

    @property
    def unseen(self) -> list[Claim]:
        """Return the claims that this failure keeps from being checked."""
        return self.claims[1:] if self.verdict.failed else []

    @property
    def others(self) -> str:
        """Return a sentence about the other tests that fail in the same way, or ""."""
        count = len(self.unseen)
        if not count:
            return ""
        checks = "1 more check fails" if count == 1 else f"{count} more checks fail"
        numbers = ", with different numbers" if self.varies else ""
        return f"{checks} the same way{numbers}. Fix this one first."

    @property
    def word(self) -> str:
        return "Fails" if self.message == NOT_DESCRIBED else self.verdict.words


@dataclass(frozen=True)
class Cell:
    """The number of tests of one dtype and device, by outcome."""

    passed: int = 0
    failed: int = 0
    not_run: int = 0

    @property
    def state(self) -> str:
        if self.failed:
            return "fail" if not self.passed else "some"
        if self.passed:
            return "pass"
        return "skip" if self.not_run else "none"

    @property
    def words(self) -> str:
        ran = self.passed + self.failed
        return {
            "pass": "passes",
            "fail": "fails",
            "some": f"{self.passed} of {ran} pass",
            "skip": "not run",
            "none": "no test",
        }[self.state]


@dataclass(frozen=True)
class Grid:
    """A small table of cells; `corner` is the heading of the rows."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass
class ExerciseView:
    """The feedback on one exercise."""

    report: ExerciseReport
    points: float
    findings: list[Finding]
    held: list[Claim]
    not_run: list[Finding]
    grids: list[Grid]

    @property
    def name(self) -> str:
        return self.report.name

    @property
    def score(self) -> float:
        return self.report.score

    @property
    def open_points(self) -> float:
        return max(0.0, self.points - self.score)

    @property
    def share(self) -> float:
        return min(1.0, max(0.0, self.score / self.points)) if self.points > 0 else 0.0

    @property
    def state(self) -> str:
        """Return complete, carried, partly, wrong, open (not written yet), fault or ungraded."""
        if any(f.verdict is Verdict.GRADER_FAULT for f in self.findings):
            return "fault"
        if not self.findings and not self.held and not self.carried:
            return "ungraded"
        if not self.findings:
            return "carried" if self.carried else "complete"
        if not self.held and all(f.verdict is Verdict.UNWRITTEN for f in self.findings):
            return "open"
        return "partly" if self.score > 0 else "wrong"

    @property
    def carried(self) -> str:
        return carried_words(self.report)

    @property
    def arithmetic(self) -> list[ArithmeticLine]:
        return arithmetic(self.report)

    @property
    def follows(self) -> str:
        """Return the earlier exercise to fix first if everything here fails because of it."""
        reasons = {f.same_as for f in self.findings}
        return reasons.pop() if len(reasons) == 1 else ""

    @property
    def uneven_grids(self) -> list[Grid]:
        """Return the grids whose cells differ."""
        return [g for g in self.grids if len({c.state for _, row in g.rows for c in row}) > 1]

    @property
    def where(self) -> str:
        """Return a sentence that locates the mistake, with a question unless it is named."""
        return location_sentence(self.report.suspects, asking=not self.report.explained)

    @property
    def mark(self) -> str:
        return _MARKS[self.state][0]

    @property
    def words(self) -> str:
        return _MARKS[self.state][1]

    @property
    def forbidden(self) -> bool:
        return any(f.verdict is Verdict.FORBIDDEN for f in self.findings)


_MARKS = {
    "complete": ("✓", "Complete"),
    "carried": ("✓", "Correct, except for the function it calls"),
    "partly": ("◐", "Partly correct"),
    "wrong": ("✗", "Not correct yet"),
    "open": ("○", "Not written yet"),
    "fault": ("!", "Not graded: system error"),
    "ungraded": ("-", "Not graded"),
}


def view_exercise(report: ExerciseReport, points: float | None = None) -> ExerciseView:
    """Return the view of a report.

    points: what the exercise is worth, if that is more than the report's maximum.
    """
    variants = _variants(report.tests)
    failed = [t for t in report.tests if t.verdict.reported and not t.carried]
    return ExerciseView(
        report=report,
        points=report.max_score if points is None else points,
        findings=_grouped(failed, variants),
        held=[
            Claim(_claim(tests[0]))
            for tests in variants.values()
            if any(t.verdict is Verdict.PASS for t in tests)
            and not any(t.verdict.reported for t in tests)
        ],
        not_run=_grouped([t for t in report.tests if t.verdict is Verdict.NOT_RUN], variants),
        grids=_grids(t for t in report.tests if not t.carried),
    )


def link_causes(exercises: list[ExerciseView]) -> None:
    """Refer to the first exercise if one broken line stops several exercises."""
    first: dict[tuple[Verdict, int], str] = {}
    for exercise in exercises:
        for finding in exercise.findings:
            if finding.cause:
                finding.same_as = first.get(finding.cause, "")
        for finding in exercise.findings:
            if finding.cause:
                first.setdefault(finding.cause, exercise.name)


def _variants(tests: Iterable[TestReport]) -> dict[str, list[TestReport]]:
    """Group the tests by their name without the axes."""
    found: dict[str, list[TestReport]] = {}
    for test in tests:
        found.setdefault(test.base, []).append(test)
    return found


def _grouped(tests: list[TestReport], variants: dict[str, list[TestReport]]) -> list[Finding]:
    findings: dict[tuple[Verdict, str], Finding] = {}
    touched: dict[tuple[Verdict, str], dict[str, list[TestReport]]] = {}
    for test in tests:
        key = failure_key(test)
        finding = findings.setdefault(key, Finding(test.verdict, test.message, test.line))
        finding.varies = finding.varies or finding.message != test.message
        touched.setdefault(key, {}).setdefault(test.base, []).append(test)
    for cause, finding in findings.items():
        for base, some in touched[cause].items():
            whole = len(some) == len(variants[base])
            where = "" if whole else ", ".join(axes_of(t.name) for t in some)
            finding.claims.append(Claim(_claim(some[0]), where))
    return list(findings.values())


def _claim(test: TestReport) -> str:
    if test.claim:
        return test.claim
    words = test.base.split("::")[-1].removeprefix("test_").replace("_", " ")
    return f"{words[:1].upper()}{words[1:]}."


def _axes(name: str) -> tuple[str, str]:
    """Return the dtype and the device in a test's name, "" if it has none."""
    found = _AXES.findall(axes_of(name))
    dtype = next((f for f in found if f in DTYPES), "")
    return dtype, next((f for f in found if f in DEVICES), "")


def _grids(tests: Iterable[TestReport]) -> list[Grid]:
    counts: dict[tuple[str, str], list[int]] = {}
    for test in tests:
        place = _axes(test.name)
        if place != ("", ""):
            slot = 0 if test.verdict is Verdict.PASS else 1 if test.verdict.reported else 2
            counts.setdefault(place, [0, 0, 0])[slot] += 1
    cells = {place: Cell(*slots) for place, slots in counts.items()}
    both = {p: c for p, c in cells.items() if all(p)}
    grids = []
    if both:
        columns = tuple(d for d in DEVICES if any(p[1] == d for p in both))
        rows = tuple(
            (dtype, tuple(both.get((dtype, d), Cell()) for d in columns))
            for dtype in DTYPES
            if any(p[0] == dtype for p in both)
        )
        grids.append(Grid("By dtype and device", "dtype", columns, rows))
    for caption, corner, names, axis in (
        ("By dtype", "dtype", DTYPES, 0),
        ("By device", "device", DEVICES, 1),
    ):
        alone = {p[axis]: c for p, c in cells.items() if p[axis] and not p[1 - axis]}
        if alone:
            columns = tuple(n for n in names if n in alone)
            grids.append(Grid(caption, corner, columns, (("", tuple(alone[n] for n in columns)),)))
    return grids
