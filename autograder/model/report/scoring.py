"""Compute points from the verdicts of tests and from named mistakes.

If the named mistakes of an exercise explain all of its failures, the exercise loses their costs. If
they explain nine tenths of the failures, or most of them and the explained tests returned outputs
instead of raising exceptions, the exercise also loses the weights of the unexplained tests.
Otherwise the exercise earns the weighted share of passed tests. If the named mistakes explain at
least half of the failures, it earns no more than their costs leave. A test that fails only because
of a wrong helper earns the share that `scoring` in course.yaml defines. One forbidden call costs
all points.

course.yaml defines how many electives count. The best electives are selected by scores in which
every mistake is charged. In the final scores, a misconception that costs less than
`COST_WITHOUT_WORK` is charged only once per week: in the exercise that contains it or, if that is
unknown, in the exercise where it costs most.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import msgspec
from msgspec.structs import replace

from ..course import Exercise, Scoring, Week
from .schema import (
    Counterexample,
    Deduction,
    Diagnosis,
    Ending,
    ExerciseReport,
    SubmissionReport,
    Suspect,
    TestReport,
)

COST_OF_STATE = 0.15  # of parameters with other names, or with other biases
COST_WITHOUT_WORK = 0.9  # a mistake with at least this cost is charged in every exercise
# Named mistakes determine the points if they leave less than this share of the failed weight
# unexplained, or less than the second share if the explained tests returned no outputs.
_UNEXPLAINED_SHARE, _UNEXPLAINED_WITHOUT_OUTPUTS = 0.5, 0.1


@dataclass(frozen=True)
class Mistake:
    """A named mistake.

    cost: a share of the points, or None if the bank states no cost
    shows_work: False if the tests that the mistake explains reveal nothing about the other code.
                The cost then limits the points, but does not replace the weights of failed tests
    line: the file and the line of the mistake, or "" if unknown
    """

    name: str
    cost: float | None
    belief: str = ""
    shows_work: bool = True
    line: str = ""

    def is_same(self, other: Self) -> bool:
        """Return True if the belief or the line is the same, so that only one is charged."""
        return other.belief == self.belief != "" or other.line == self.line != ""


@dataclass(frozen=True)
class Evidence:
    """The results that determine the points of one exercise.

    explained: failed tests that the named mistakes explain
    has_outputs: True if the explained tests returned outputs, which reveal the rest of the work
    inherits: exercises whose mistakes cause failures of this exercise
    carried: maps failed tests to the share that is correct apart from mistakes in `inherits`
    replaced: helpers that were replaced by the solution's versions while the tests ran
    calls: exercises that the student's code calls, except those in `replaced`
    shows_work: False if the code passes only tests that a trivial program passes too
    fitted: failed tests that pass once the contract is met, by an adapter, by fitted layers or by
            converted results. The first mistakes, `contracts` in all, are then broken contracts
    suspects: the lines that probably contain a mistake
    computed: the share of a correct program's steps whose values the exercise computes, if known
    headline: the failed test whose claim describes the mistake best, or "" if it is the first one
    counterexample: a small input on which the exercise is wrong
    """

    exercise: Exercise
    tests: tuple[TestReport, ...]
    mistakes: tuple[Mistake, ...] = ()
    explained: frozenset[str] = frozenset()
    has_outputs: bool = False
    diagnoses: tuple[Diagnosis, ...] = ()
    inherits: tuple[str, ...] = ()
    carried: Mapping[str, float] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    calls: frozenset[str] = frozenset()
    shows_work: bool = True
    fitted: frozenset[str] = frozenset()
    contracts: int = 1
    suspects: tuple[Suspect, ...] = ()
    computed: float = 0.0
    headline: str = ""
    counterexample: Counterexample | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.diagnoses)


def exercise_reports(
    exercises: Sequence[Evidence], rule: Scoring, electives_counted: int | None = None
) -> tuple[ExerciseReport, ...]:
    """Return a report for each exercise of a submission, charging each misconception once."""
    tallies = [Tally(evidence, rule) for evidence in exercises]
    alone = [tally.report([tally]) for tally in tallies]
    electives = [n for n, tally in enumerate(tallies) if tally.evidence.exercise.elective]
    best = sorted(electives, key=lambda n: -alone[n].score)[:electives_counted]
    counting = {n for n in range(len(tallies)) if n not in electives or n in best}
    sharing = [tallies[n] for n in sorted(counting)]
    return tuple(
        tally.report(sharing) if n in counting else alone[n] for n, tally in enumerate(tallies)
    )


class Tally:
    """The weights of an exercise's tests, and the points that follow from them."""

    def __init__(self, evidence: Evidence, rule: Scoring) -> None:
        self.evidence, self.rule = evidence, rule
        self.tests = tuple(
            replace(t, carried=round(carried * rule.carried, 4))
            if (carried := evidence.carried.get(t.name, 0.0))
            else t
            for t in evidence.tests
        )
        # Inherited failures are not failures of this exercise, even if they earn no points.
        inherited = {name for name, carried in evidence.carried.items() if carried}
        counted = [t for t in self.tests if t.verdict.counted]
        failed = [t for t in counted if t.verdict.failed and t.name not in inherited]
        self.total = sum(t.weight for t in counted)
        self.failed = sum(t.weight for t in failed)
        self.unexplained = sum(t.weight for t in failed if t.name not in evidence.explained)
        self._uncarried = sum(t.weight * (1 - t.carried) for t in self.tests if t.name in inherited)
        self.forbidden = any(t.verdict.breaks_a_rule for t in failed)
        mistakes = evidence.mistakes
        priced = bool(mistakes) and all(m.cost is not None and m.shows_work for m in mistakes)
        self._chargeable = rule.by == "mistakes" and priced and bool(failed) and not self.forbidden

    @property
    def mistakes_decide(self) -> bool:
        """True if the costs of the named mistakes are deducted, not the weights of failed tests."""
        share = _UNEXPLAINED_SHARE if self.evidence.has_outputs else _UNEXPLAINED_WITHOUT_OUTPUTS
        return self._chargeable and self.unexplained < share * self.failed

    @cached_property
    def passed_share(self) -> float:
        """The weighted share of passed and fitted tests; inherited failures earn their share."""
        if not self.total or self.forbidden or not self.evidence.shows_work:
            return 0.0
        fitted = self.evidence.fitted
        earned = sum(t.weight * (t.earned_share, 1.0)[t.name in fitted] for t in self.tests)
        return min(1.0, earned / self.total)

    def price(self, mistake: Mistake) -> float:
        """Return the points that this exercise would lose if it were charged for the mistake."""
        mistakes = [m for m in self.evidence.mistakes if m.is_same(mistake) and m.shows_work]
        costs = [m.cost or 0.0 for m in mistakes]
        if not costs:
            return 0.0
        share = max(costs) if self.mistakes_decide else self._explained_share()
        return share * self.evidence.exercise.points

    @property
    def _is_half_explained(self) -> bool:
        return self.unexplained <= _UNEXPLAINED_SHARE * self.failed

    def _explained_share(self) -> float:
        """Return the weighted share of explained failures, limited to the share of passed tests.

        The limit keeps charges off exercises whose tests mostly fail.
        """
        if not self.total or self.forbidden:
            return 0.0
        return min(self.failed - self.unexplained, self.total - self.failed) / self.total

    def _deductions(self, sharing: Sequence[Self]) -> tuple[Deduction, ...]:
        """Return a deduction for each mistake, or () if only test results determine the points.

        sharing: exercises that share one charge for each misconception
        """
        if not (self._chargeable and (self.mistakes_decide or self._is_half_explained)):
            return ()
        exercise, deductions, charged = self.evidence.exercise, list[Deduction](), set[str]()
        left = exercise.points
        for mistake in self.evidence.mistakes:
            counted_in = _charged_in(self, mistake, sharing)
            if mistake.belief in charged:
                counted_in = exercise.name
            charged |= {mistake.belief} - {""}
            points = 0.0 if counted_in else exercise.points * (mistake.cost or 0.0)
            points = round(min(points, left), 4)
            left -= points
            deductions.append(Deduction(mistake.name, points, counted_in))
        return tuple(deductions)

    def _dearest_without_work(self, sharing: Sequence[Self]) -> Deduction | None:
        """Return the largest deduction for a mistake without `shows_work`, which limits the points.

        Without this limit, a second mistake in the same test would raise the score. Mistakes that
        are charged to a different exercise in `sharing` are ignored. Return None if there is no
        such mistake, most failures are unexplained, or course.yaml deducts points by tests.
        """
        if self.rule.by != "mistakes" or not self._is_half_explained:
            return None
        hidden = [m for m in self.evidence.mistakes if not m.shows_work and m.cost is not None]
        mistakes = [m for m in hidden if not _charged_in(self, m, sharing)]
        if not mistakes:
            return None
        dearest = max(mistakes, key=lambda m: m.cost or 0.0)
        points = round(self.evidence.exercise.points * (dearest.cost or 0.0), 4)
        return Deduction(dearest.name, points, "")

    def _points(self, sharing: Sequence[Self]) -> tuple[float, tuple[Deduction, ...]]:
        """Return the points and the deductions.

        If the tests determine the points, only broken contracts are deducted.
        """
        deductions = self._deductions(sharing)
        points = self.evidence.exercise.points
        by_tests = points * self.passed_share
        charged = list[Deduction]()
        broken = self.evidence.mistakes[: self.evidence.contracts] if self.evidence.fitted else ()
        for contract in broken:
            charge = round(min(by_tests, points * (contract.cost or 0.0)), 4)
            by_tests -= charge
            charged.append(Deduction(contract.name, charge, ""))
        if not deductions:
            dearest = self._dearest_without_work(sharing)
            if dearest is None or by_tests <= points - dearest.points:
                return by_tests, tuple(charged)
            return points - dearest.points, (dearest,)
        kept = 1.0 - (self._uncarried + self.unexplained) / self.total
        by_mistakes = max(0.0, points * kept - sum(d.points for d in deductions))
        if self.mistakes_decide or by_mistakes < by_tests:
            return by_mistakes, deductions
        return by_tests, tuple(charged)

    def report(self, sharing: Sequence[Self]) -> ExerciseReport:
        """Return the report. `sharing`: exercises that share one charge for each misconception."""
        score, deductions = self._points(sharing)
        evidence = self.evidence
        return ExerciseReport(
            name=evidence.exercise.name,
            score=round(score, 4),
            max_score=evidence.exercise.points if self.total else 0.0,
            diagnosis=evidence.names,
            tests=self.tests,
            explained=evidence.diagnoses,
            inherits=evidence.inherits,
            deductions=deductions,
            suspects=evidence.suspects,
            headline=evidence.headline or msgspec.UNSET,
            counterexample=evidence.counterexample,
            beside=evidence.replaced,
        )


def _charged_in(here: Tally, mistake: Mistake, sharing: Sequence[Tally]) -> str:
    """Return the exercise that is charged for a mistake instead of `here`, or "" if `here` is."""
    if (mistake.cost or 0.0) >= COST_WITHOUT_WORK:
        return ""
    held = [t for t in sharing if t is here or any(map(mistake.is_same, t.evidence.mistakes))]
    names = {t.evidence.exercise.name for t in held}
    sources = [t for t in held if not t.evidence.calls & names] or held
    dearest = max(sources, key=lambda t: t.price(mistake))
    return "" if dearest is here else dearest.evidence.exercise.name


def submission_report(
    name: str,
    week: Week,
    exercises: tuple[ExerciseReport, ...],
    faults: list[str],
    attempts: tuple[str, ...] = (),
) -> SubmissionReport:
    """Return a submission's report. `faults`: messages of hidden tests that are broken."""
    return SubmissionReport(
        name=name,
        verdict=Ending.GRADER_FAULT if faults else Ending.GRADED,
        score=round(sum(e.score for e in counted(week, exercises)), 4),
        max_score=full_points(week),
        message=f"A hidden test failed, not the submission: {faults[0]}" if faults else "",
        exercises=exercises,
        attempts=attempts,
    )


def refused(
    name: str, week: Week, message: str, attempts: tuple[str, ...] = ()
) -> SubmissionReport:
    """Return the report of a submission that is not graded. `message`: the reason."""
    return SubmissionReport(
        name=name,
        verdict=Ending.REFUSED,
        score=0.0,
        max_score=full_points(week),
        message=message,
        exercises=tuple(ungraded(e) for e in week.exercises),
        attempts=attempts,
    )


def fault(name: str, reason: str, max_score: float = 0.0) -> SubmissionReport:
    """Return the report of a submission that could not be graded because of a system error."""
    message = f"The grading system failed, not the submission: {reason}"
    return SubmissionReport(name, Ending.GRADER_FAULT, 0.0, max_score, message=message)


def ungraded(exercise: Exercise) -> ExerciseReport:
    """Return a report without points for an exercise that could not be graded."""
    return ExerciseReport(name=exercise.name, score=0.0, max_score=exercise.points)


def counted(week: Week, exercises: Iterable[ExerciseReport]) -> list[ExerciseReport]:
    """Return the reports of all required exercises and of the best electives."""
    electives = {e.name for e in week.exercises if e.elective}
    reports = list(exercises)
    if week.electives_counted is None or not electives:
        return reports
    best = sorted((e for e in reports if e.name in electives), key=lambda e: -e.score)
    return [e for e in reports if e.name not in electives] + best[: week.electives_counted]


def full_points(week: Week) -> float:
    """Return the maximum score of a week, without written questions."""
    required = sum(e.points for e in week.exercises if not e.elective)
    electives = sorted((e.points for e in week.exercises if e.elective), reverse=True)
    return float(required + sum(electives[: week.electives_counted]))


def rounded(points: float, decimals: int) -> float:
    """Round points to a number of decimal places; halves are rounded up."""
    unit = float(10**decimals)
    return math.floor(points * unit + 0.5 + 1e-9) / unit


def with_rounded_scores(report: SubmissionReport, week: Week, decimals: int) -> SubmissionReport:
    """Round each exercise's score; the submission's score becomes the sum of those that count."""
    exercises = tuple(replace(e, score=rounded(e.score, decimals)) for e in report.exercises)
    score = rounded(sum(e.score for e in counted(week, exercises)), decimals)
    return replace(report, exercises=exercises, score=score)
