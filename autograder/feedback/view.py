"""What a feedback page says, before it is HTML.

Hidden tests come one by one; a student reads by cause. So tests that failed with the same message,
but for its numbers, become one finding with the claims it touches, and the axes of a test
(`test_x[float16-cpu]`) become cells of a small grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..model.device_axes import AXES
from ..model.report.failure_groups import NOT_DESCRIBED, failure_key
from ..model.report.findings import MAKES, SHOWN, question
from ..model.report.schema import ExerciseReport, Suspect, TestReport, axes_of
from ..model.report.verdicts import Verdict
from ..worker.protocol.dtypes import TEST_DTYPES, TORCH_ITEM_BYTES
from .arithmetic import ArithmeticLine, arithmetic, carried_words

DTYPES = tuple(sorted(TEST_DTYPES, key=TORCH_ITEM_BYTES.__getitem__))
DEVICES = tuple(AXES)
_AXES = re.compile(rf"(?<!\w)({'|'.join((*DTYPES, *DEVICES))})(?!\w)")


@dataclass(frozen=True)
class Claim:
    """What a test asks, and in which of its variants, if not in all of them."""

    text: str
    where: str = ""


@dataclass
class Finding:
    """One cause: a verdict with its message, and the claims of the tests that ended so.

    Only the first claim is known to fail: the tests of an exercise begin with the plainest, and one
    that ends like an earlier one ended before what it asks beyond that could show.
    """

    verdict: Verdict
    message: str
    line: int = 0  # of the student's module, where it is known
    claims: list[Claim] = field(default_factory=list)
    varies: bool = False  # the other checks said the same with other numbers
    same_as: str = ""  # the earlier exercise in which the very same thing happened

    @property
    def cause(self) -> tuple[Verdict, int] | None:
        """The line that stopped it, in whichever exercise; None if no line did."""
        stopped = self.line and self.verdict is not Verdict.UNWRITTEN
        return (self.verdict, self.line) if stopped else None

    @property
    def failed(self) -> list[Claim]:
        """The claim that fails; where it is not the student's code that failed, all."""
        return self.claims[:1] if self.verdict.failed else self.claims

    @property
    def unseen(self) -> list[Claim]:
        """The claims of which nobody can say yet whether they hold."""
        return self.claims[1:] if self.verdict.failed else []

    @property
    def others(self) -> str:
        """That other tests ended the same way, in a sentence; empty if none did."""
        count = len(self.unseen)
        if not count:
            return ""
        checks, they = ("check ends", "it holds") if count == 1 else ("checks end", "they hold")
        way = "the same way, with other numbers" if self.varies else "the same way"
        return (
            f"{count} other {checks} {way}. Correct this first; then you will see whether {they}."
        )

    @property
    def word(self) -> str:
        return "Does not hold yet" if self.message == NOT_DESCRIBED else self.verdict.words


@dataclass(frozen=True)
class Cell:
    """How the tests of one place on the axes went."""

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
            "pass": "holds",
            "fail": "fails",
            "some": f"{self.passed} of {ran} hold",
            "skip": "not run",
            "none": "no test",
        }[self.state]


@dataclass(frozen=True)
class Grid:
    """A small table of cells; `corner` names the rows."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass
class ExerciseView:
    """Everything that is said about one exercise."""

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
        """complete, carried, partly, wrong, open (nothing written yet), fault or ungraded."""
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
        """Whose mistake it carries, in a sentence."""
        return carried_words(self.report)

    @property
    def arithmetic(self) -> list[ArithmeticLine]:
        """How the points came about."""
        return arithmetic(self.report)

    @property
    def follows(self) -> str:
        """The earlier exercise to mend first, if everything here fails because of it."""
        reasons = {f.same_as for f in self.findings}
        return reasons.pop() if len(reasons) == 1 else ""

    @property
    def telling_grids(self) -> list[Grid]:
        """Those in which not everything went the same way."""
        return [g for g in self.grids if len({c.state for _, row in g.rows for c in row}) > 1]

    @property
    def where(self) -> str:
        """Where the mistake is, in a sentence; of what has a name there is nothing to ask."""
        return where(self.report.suspects, asking=not self.report.explained)

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
    "carried": ("✓", "Right, given what it calls"),
    "partly": ("◐", "Partly right"),
    "wrong": ("✗", "Not right yet"),
    "open": ("○", "Not written yet"),
    "fault": ("!", "Not graded: our fault"),
    "ungraded": ("-", "Not graded"),
}


def view_exercise(report: ExerciseReport, points: float | None = None) -> ExerciseView:
    """`points` is what the exercise is worth, if that is more than could be graded here."""
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
    """If one broken line stops several exercises, say so instead of repeating it."""
    first: dict[tuple[Verdict, int], str] = {}
    for exercise in exercises:
        for finding in exercise.findings:
            if finding.cause:
                finding.same_as = first.get(finding.cause, "")
        for finding in exercise.findings:
            if finding.cause:
                first.setdefault(finding.cause, exercise.name)


def _variants(tests: Iterable[TestReport]) -> dict[str, list[TestReport]]:
    """The tests by their name without the axes."""
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
    """The dtype and the device in a test's name, each "" if there is none."""
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
        grids.append(Grid("By number type and device", "number type", columns, rows))
    for caption, corner, names, axis in (
        ("By number type", "number type", DTYPES, 0),
        ("By device", "device", DEVICES, 1),
    ):
        alone = {p[axis]: c for p, c in cells.items() if p[axis] and not p[1 - axis]}
        if alone:
            columns = tuple(n for n in names if n in alone)
            grids.append(Grid(caption, corner, columns, (("", tuple(alone[n] for n in columns)),)))
    return grids


def where(suspects: Iterable[Suspect], asking: bool = True) -> str:
    """Where the mistake is, for the student; never what would mend it. Nothing if nobody knows."""
    places = list(suspects)
    if not places:
        return ""
    seen = list(_seen(places))
    places = [p for p in places if p.kind not in (*_STOPPED, MAKES, SHOWN)]
    return " ".join([*seen, _changed(places, asking)] if places else seen)


def _changed(places: list[Suspect], asking: bool) -> str:
    """What is told of places at which a change would do."""
    told = [
        f"line {p.line} of {p.file}{f' ({question(p.kind)})' if asking else ''}" for p in places
    ]
    if places[0].explains:
        counts = (f"{t} explains {p.explains}" for t, p in zip(told, places, strict=True))
        return f"Of the tests that fail, {', and '.join(counts)}."
    if not all(p.alone for p in places):
        if len(told) == 1:
            return f"One of the mistakes is at {told[0]}."
        return f"Together these places explain all that fails: {' and '.join(told)}."
    if len(told) == 1:
        return f"One line explains all that fails: {told[0]}."
    return f"One place explains all that fails. It can be {', or '.join(told)}."


def _seen(places: list[Suspect]) -> Iterator[str]:
    """What is told of places that no change was found for."""

    def lines(some: list[Suspect]) -> str:
        return " and ".join(f"line {p.line} of {p.file}" for p in some)

    if stopped := [p for p in places if p.kind in _STOPPED]:
        count = sum(p.explains for p in stopped)
        much = f"{count} of the tests that fail stop at" if count else ""
        yield f"{much or f'All of it {_STOPPED[stopped[0].kind]}'} {lines(stopped)}."
    if made := [p for p in places if p.kind == MAKES]:
        yield f"What should not be there is made at {lines(made)}."
    if shown := [p for p in places if p.kind == SHOWN]:
        yield f"{'It shows' if len(shown) == 1 else 'They show'} at {lines(shown)}."


_STOPPED = {
    "crashed": "stops at",
    "forbidden": "is one call, in",
    "timeout": "takes too long at",
    "limit": "takes too much at",
}
