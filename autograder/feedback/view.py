"""Prepare the content of feedback before rendering.

A report lists results by hidden test, but students need them by cause. Failures whose messages
differ only in numbers, shapes and dtypes therefore form one finding with the claims of all affected
tests. If only some variants of a test are affected, its claim lists their axes (`float16-cpu`).
"""

from collections.abc import Iterable, Iterator

import msgspec
from markupsafe import Markup

from ..model.report.findings import MAKES, SHOWN, question, symptom_name
from ..model.report.schema import (
    NOT_DESCRIBED,
    Counterexample,
    Diagnosis,
    ExerciseReport,
    Suspect,
    TestReport,
    Verdict,
    axes_of,
)
from .score_breakdown import ArithmeticLine, arithmetic, carried_words


class Mark(msgspec.Struct, frozen=True):
    """The score and comment of one exercise or question in the gradebook."""

    name: str
    score: float
    points: float
    by_person: bool = False
    waiting: bool = False  # not marked yet
    comment: Markup | None = None


class Marks(msgspec.Struct, frozen=True):
    """A week's scores in the gradebook; `penalty` is the late penalty in points."""

    score: float
    max_score: float
    penalty: float
    given: tuple[Mark, ...] = ()

    @property
    def total(self) -> float:
        return max(0.0, self.score - self.penalty)

    def of(self, name: str) -> Mark | None:
        return next((m for m in self.given if m.name == name), None)


def location_sentence(suspects: Iterable[Suspect], asking: bool = True) -> str:
    """Return sentences that locate the mistake without revealing the fix, or "" if there are none.

    asking: add a question that leads to the fix.
    """
    places = list(suspects)
    if not places:
        return ""
    observed = list(_observed(places))
    places = [p for p in places if p.kind not in (*_STOPPED, MAKES, SHOWN)]
    return " ".join([*observed, _repairable(places, asking)] if places else observed)


def _repairable(places: list[Suspect], ask: bool) -> str:
    """Return a sentence about the lines for which a fix was found."""
    lines = [f"line {p.line} of {p.file}{f' ({question(p.kind)})' if ask else ''}" for p in places]
    if places[0].explains:
        counts = (f"{t} explains {p.explains}" for t, p in zip(lines, places, strict=True))
        text = ", and ".join(counts)
        return f"{text[0].upper()}{text[1:]} of the failed checks."
    if not all(p.alone for p in places):
        if len(lines) == 1:
            return f"One of the mistakes is in {lines[0]}."
        return f"Together, these lines explain all failed checks: {' and '.join(lines)}."
    if len(lines) == 1:
        return f"One line explains all failed checks: {lines[0]}."
    return f"One of these lines explains all failed checks: {', or '.join(lines)}."


def _observed(places: list[Suspect]) -> Iterator[str]:
    """Yield sentences about the lines for which no fix was found."""

    def lines(some: list[Suspect]) -> str:
        return " and ".join(f"line {p.line} of {p.file}" for p in some)

    if stopped := [p for p in places if p.kind in _STOPPED]:
        count = sum(p.explains for p in stopped)
        much = f"{count} of the failed checks stop at" if count else ""
        yield f"{much or f'The code {_STOPPED[stopped[0].kind]}'} {lines(stopped)}."
    if made := [p for p in places if p.kind == MAKES]:
        yield f"The weights cannot be loaded into the parameters created in {lines(made)}."
    if shown := [p for p in places if p.kind == SHOWN]:
        yield f"The mistake first shows on {lines(shown)}."


_STOPPED = {verdict.value: verdict.at_line for verdict in Verdict if verdict.at_line}


class Claim(msgspec.Struct, frozen=True):
    """The requirement that a test checks. `where`: the affected variants, or "" if all are."""

    text: str
    where: str = ""


class Finding(msgspec.Struct):
    """Tests with the same outcome: their common verdict and message, and their claims.

    Only the first claim is known to be violated: another test with the same failure may stop before
    it checks its own claim.
    """

    verdict: Verdict
    message: str
    line: int = 0  # of the student's module; 0 if unknown
    claims: list[Claim] = []

    @property
    def failed(self) -> list[Claim]:
        """Return the claim known to be violated, or all claims if the student is not at fault."""
        return self.claims[:1] if self.verdict.failed else self.claims

    @property
    def unseen(self) -> list[Claim]:
        """Return the claims that may not have been checked; [] if the student is not at fault."""
        return self.claims[1:] if self.verdict.failed else []

    @property
    def others(self) -> str:
        """Return a sentence about the other tests that fail the same way, or "" if none do."""
        count = len(self.unseen)
        if not count:
            return ""
        checks = "1 more check fails" if count == 1 else f"{count} more checks fail"
        return f"{checks} the same way. Fix this one first."

    @property
    def word(self) -> str:
        return "Fails" if self.message == NOT_DESCRIBED else self.verdict.words


class ExerciseView(msgspec.Struct):
    """The feedback on one exercise."""

    report: ExerciseReport
    points: float
    findings: list[Finding]
    held: list[Claim]
    not_run: list[Finding]

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
        """Return the state of the exercise, one of the keys of `_MARKS`."""
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
    def named(self) -> Diagnosis | None:
        """The mistake to show first, or None if no name explains most failures."""
        return next((d for d in self.report.explained[:1] if not d.is_minor), None)

    @property
    def folded(self) -> list[Diagnosis]:
        """The other named mistakes."""
        return [d for d in self.report.explained if d is not self.named]

    @property
    def first(self) -> Finding | None:
        """The finding to show first; None without findings, and for an unwritten exercise."""
        return self.findings[0] if self.findings and self.state != "open" else None

    @property
    def headline(self) -> Finding | None:
        """The first finding; None if the named mistake says more."""
        is_symptom = self.named is not None and self.named.name.startswith(symptom_name(""))
        says_more = self.named is not None and (self.example is not None or not is_symptom)
        return None if says_more else self.first

    @property
    def message(self) -> str:
        """The message of the headline; "" without a headline, or if an example is shown instead."""
        return self.headline.message if self.headline and not self.example else ""

    @property
    def example(self) -> Counterexample | None:
        return self.report.counterexample

    @property
    def where(self) -> str:
        """Return sentences that locate the mistake, with a question unless its cause is named.

        Leave out the line that the counterexample shows, unless an edit there fixes all tests.
        """
        shown = self.example.line if self.example is not None else 0
        places = [
            p
            for p in self.report.suspects
            if p.line != shown or (p.kind != SHOWN and not p.explains)
        ]
        return location_sentence(places, asking=not self.report.explained)

    @property
    def mark(self) -> str:
        return _MARKS[self.state][0]

    @property
    def words(self) -> str:
        """Return the state in words; name the exercise that is charged if this one is not."""
        charged = [d.counted_in for d in self.report.deductions if d.counted_in != self.name]
        if self.state == "partly" and self.score >= self.points and any(charged):
            return f"Not correct yet, but already charged in {next(filter(None, charged))}"
        return _MARKS[self.state][1]

    @property
    def broken_rule(self) -> str:
        """The verdict that costs all points of the exercise, or ""."""
        return next((f.word for f in self.findings if f.verdict.breaks_a_rule), "")


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
    """Build the view of an exercise from its report.

    points: the maximum score of the exercise; default: the maximum in the report.
    """
    variants = _variants(report.tests)
    failed = [t for t in report.tests if t.verdict.reported and not t.carried]
    failed.sort(key=lambda t: t.name != report.headline)
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
        not_run=_grouped([t for t in report.tests if not t.verdict.ran], variants),
    )


def _variants(tests: Iterable[TestReport]) -> dict[str, list[TestReport]]:
    found: dict[str, list[TestReport]] = {}
    for test in tests:
        found.setdefault(test.base, []).append(test)
    return found


def _grouped(tests: list[TestReport], variants: dict[str, list[TestReport]]) -> list[Finding]:
    groups: dict[tuple[Verdict, str], list[TestReport]] = {}
    for test in tests:
        groups.setdefault(test.failure_key, []).append(test)
    findings = []
    for group in groups.values():
        finding = Finding(group[0].verdict, group[0].message, group[0].line)
        for base, some in _variants(group).items():
            whole = len(some) == len(variants[base])
            where = "" if whole else ", ".join(axes_of(t.name) for t in some)
            finding.claims.append(Claim(_claim(some[0]), where))
        findings.append(finding)
    return findings


def _claim(test: TestReport) -> str:
    if test.claim:
        return test.claim
    words = test.base.split("::")[-1].removeprefix("test_").replace("_", " ")
    return f"{words[:1].upper()}{words[1:]}."
