"""From the verdicts of tests to points.

Where the mistakes that were named explain what failed in an exercise, it loses what these mistakes
cost. If they explain most of it, by answers and not by errors, the other failed tests cost their
weights besides. Otherwise it earns the weighted share of its tests that passed, among those that
could be run here, but no more than its named mistakes would leave. A failed test whose mistake is
another exercise's is carried: it counts as course.yaml's `scoring` says, which changes nothing
else: who keeps less of it never has more points. One forbidden call costs the exercise its points.

Only the best electives count, as many as course.yaml says. They are chosen with every mistake
charged in each of them. Then one misconception costs once in a week, in an exercise that counts: in
the one whose own code holds it if that is known, else where it costs most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from ..course.loader import Exercise, Scoring, Week
from .schema import Deduction, Diagnosis, ExerciseReport, SubmissionReport, TestReport
from .verdicts import Ending, Verdict

_NO_WORK = 0.9  # a cost: the rest of the exercise is not there either, whatever was believed
_REST = 0.5  # of what failed: less than that may be left unexplained where mistakes decide


@dataclass(frozen=True)
class Mistake:
    """A mistake that was named: what share of the points it costs, and the belief behind it."""

    name: str
    cost: float | None
    belief: str = ""


@dataclass(frozen=True)
class Standing:
    """How an exercise stands before points are counted.

    mistakes: those that were named. explained: the failed tests that they explain. seen: whether
    what else is there was seen in them, for they came to an answer.
    carried: by failed test, the share of it that is right given the exercises in `inherits`.
    beside: the exercises that right ones stood in for in the tests.
    worked: whether a test passes that no trivial program passes; otherwise tests earn nothing.
    calls: the exercises that it calls in the student's program and that nothing stood in for.
    """

    exercise: Exercise
    tests: tuple[TestReport, ...]
    mistakes: tuple[Mistake, ...] = ()
    explained: frozenset[str] = frozenset()
    seen: bool = False
    diagnoses: tuple[Diagnosis, ...] = ()
    inherits: tuple[str, ...] = ()
    carried: Mapping[str, float] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    calls: frozenset[str] = frozenset()
    worked: bool = True


def decided_by_mistakes(standing: Standing, rule: Scoring) -> bool:
    """Return True if an exercise loses the costs of its named mistakes, not its failed tests."""
    return _Count(standing, rule).by_mistakes


def passed_share(standing: Standing, rule: Scoring) -> float:
    """Return the weighted share of the tests that passed, carried ones as far as they are kept."""
    return _Count(standing, rule).share_of_tests()


def exercise_reports(
    standings: Sequence[Standing], rule: Scoring, electives_counted: int | None = None
) -> tuple[ExerciseReport, ...]:
    """Return the reports of a submission's exercises; what one loses may depend on the others."""
    counts = [_Count(s, rule) for s in standings]
    for count in counts:
        count.charge([count])
    kept = _best(counts, electives_counted)
    for count in kept:
        count.charge(kept)
    return tuple(c.report() for c in counts)


def _best(counts: Sequence[_Count], electives_counted: int | None) -> list[_Count]:
    """Return the exercises whose points make the score, by what each would earn alone."""
    electives = [c for c in counts if c.standing.exercise.elective]
    best = sorted(electives, key=lambda c: -c.report().score)[:electives_counted]
    return [c for c in counts if c not in electives or c in best]


class _Count:
    """The points of one exercise, as they are worked out."""

    def __init__(self, standing: Standing, rule: Scoring) -> None:
        self.standing = standing
        self.tests = tuple(
            msgspec.structs.replace(t, carried=round(carried * rule.carried, 4))
            if (carried := standing.carried.get(t.name, 0.0))
            else t
            for t in standing.tests
        )
        counted = [t for t in self.tests if t.verdict.counted]
        self.total = sum(t.weight for t in counted)
        # what is inherited is no mistake of this exercise, however little of it is kept
        inherited = {name for name, carried in standing.carried.items() if carried}
        self.failed = [t for t in counted if t.verdict.failed and t.name not in inherited]
        self.inherited = [t for t in self.tests if t.name in inherited]
        rest = [t for t in self.failed if t.name not in standing.explained]
        self.rest = sum(t.weight for t in rest)
        self.lost = sum(t.weight for t in self.failed)
        self.forbidden = any(t.verdict is Verdict.FORBIDDEN for t in self.failed)
        self.charges = rule.by == "mistakes" and self._priced()
        self.by_mistakes = self.charges and self._explains_most()
        self.deductions: tuple[Deduction, ...] = ()

    def _explains_most(self) -> bool:
        """Return True if the named mistakes explain all that failed.

        Most of it is enough where what is there besides was seen.
        """
        left = _REST * self.lost if self.standing.seen else 0.0
        return not self.rest or self.rest < left

    def _priced(self) -> bool:
        """Return True if no failed test is forbidden, and every named mistake has a cost."""
        mistakes = self.standing.mistakes
        priced = bool(mistakes) and all(m.cost is not None for m in mistakes)
        return priced and bool(self.failed) and not self.forbidden

    def price(self, belief: str) -> float:
        """The points that this exercise loses for a belief, were it charged here alone."""
        costs = [m.cost or 0.0 for m in self.standing.mistakes if m.belief == belief]
        if not costs:
            return 0.0
        share = max(costs) if self.by_mistakes else self._explained_share()
        return share * self.standing.exercise.points

    def _explained_share(self) -> float:
        """The weighted share of tests that failed by mistakes with a name.

        At most what is left of the exercise: an abandoned one bears no charge for another.
        """
        if not self.total or self.forbidden:
            return 0.0
        return min(self.lost - self.rest, self.total - self.lost) / self.total

    def charge(self, counts: Sequence[_Count]) -> None:
        """Settle what each named mistake costs here, if these exercises share the charge."""
        half_explained = self.charges and self.rest <= _REST * self.lost
        if not (self.by_mistakes or half_explained):
            return
        left, deductions = self.standing.exercise.points, list[Deduction]()
        charged = set[str]()
        for mistake in self.standing.mistakes:
            elsewhere = _counted_in(self, mistake, counts)
            if mistake.belief in charged:
                elsewhere = self.standing.exercise.name
            charged |= {mistake.belief} - {""}
            points = 0.0 if elsewhere else self.standing.exercise.points * (mistake.cost or 0.0)
            points = round(min(points, left), 4)
            left -= points
            deductions.append(Deduction(mistake.name, points, elsewhere))
        self.deductions = tuple(deductions)

    def share_of_tests(self) -> float:
        """The weighted share of tests that passed; a carried one counts as far as it is carried."""
        if not self.total or self.forbidden or not self.standing.worked:
            return 0.0
        earned = sum(t.weight * _kept(t) for t in self.tests)
        return min(1.0, earned / self.total)

    def score(self) -> float:
        """Return the points by named mistakes, or by tests if these decide and leave no more."""
        points, by_tests = self.standing.exercise.points, self.share_of_tests()
        if not self.deductions:
            return points * by_tests
        lost = sum(d.points for d in self.deductions)
        uncarried = sum(t.weight * (1.0 - t.carried) for t in self.inherited)
        by_mistakes = max(0.0, points * (1.0 - (uncarried + self.rest) / self.total) - lost)
        if self.by_mistakes or by_mistakes < points * by_tests:
            return by_mistakes
        self.deductions = ()
        return points * by_tests

    def report(self) -> ExerciseReport:
        exercise, score = self.standing.exercise, self.score()
        return ExerciseReport(
            name=exercise.name,
            score=round(score, 4),
            max_score=exercise.points if self.total else 0.0,
            diagnosis=tuple(m.name for m in self.standing.mistakes),
            tests=self.tests,
            explained=self.standing.diagnoses,
            inherits=self.standing.inherits,
            deductions=self.deductions,
            beside=self.standing.beside,
        )


def _kept(test: TestReport) -> float:
    return 1.0 if test.verdict is Verdict.PASS else test.carried


def _counted_in(here: _Count, mistake: Mistake, counts: Sequence[_Count]) -> str:
    """Return the other exercise in which the same misconception is charged, or ""."""
    if not mistake.belief or (mistake.cost or 0.0) >= _NO_WORK:
        return ""
    held = [c for c in counts if any(m.belief == mistake.belief for m in c.standing.mistakes)]
    names = {c.standing.exercise.name for c in held}
    own = [c for c in held if not c.standing.calls & names] or held
    dearest = max(own, key=lambda c: c.price(mistake.belief))
    return "" if dearest is here else dearest.standing.exercise.name


def submission_report(
    name: str,
    week: Week,
    exercises: tuple[ExerciseReport, ...],
    faults: list[str],
    attempts: tuple[str, ...] = (),
) -> SubmissionReport:
    """The submission's report; a fault in any hidden test makes it a `grader_fault`."""
    kept = counted(week, exercises)
    return SubmissionReport(
        name=name,
        verdict=Ending.GRADER_FAULT if faults else Ending.GRADED,
        score=round(sum(e.score for e in kept), 4),
        max_score=full_points(week),
        seconds=0.0,
        message=f"A hidden test is at fault, not the submission: {faults[0]}" if faults else "",
        exercises=exercises,
        attempts=attempts,
    )


def counted(week: Week, exercises: Iterable[ExerciseReport]) -> list[ExerciseReport]:
    """The exercises whose points make the score: all but the electives beyond the best few."""
    electives = {e.name for e in week.exercises if e.elective}
    every = list(exercises)
    if week.electives_counted is None or not electives:
        return every
    best = sorted((e for e in every if e.name in electives), key=lambda e: -e.score)
    return [e for e in every if e.name not in electives] + best[: week.electives_counted]


def full_points(week: Week) -> float:
    """What a perfect submission gets from the graders; written questions are apart."""
    required = sum(e.points for e in week.exercises if not e.elective)
    electives = sorted((e.points for e in week.exercises if e.elective), reverse=True)
    counted = len(electives) if week.electives_counted is None else week.electives_counted
    return float(required + sum(electives[:counted]))


def nothing(exercise: Exercise) -> ExerciseReport:
    """No points, because nothing could be graded."""
    return ExerciseReport(name=exercise.name, score=0.0, max_score=exercise.points)


def refused(
    name: str, week: Week, message: str, attempts: tuple[str, ...] = ()
) -> SubmissionReport:
    """Return the report of a submission of which no test was run; the message says why."""
    return SubmissionReport(
        name=name,
        verdict=Ending.REFUSED,
        score=0.0,
        max_score=full_points(week),
        seconds=0.0,
        message=message,
        exercises=tuple(nothing(e) for e in week.exercises),
        attempts=attempts,
    )


def rounded(points: float, decimals: int) -> float:
    """Points rounded to this many decimals; a half is rounded up, as on paper."""
    unit = float(10**decimals)
    return math.floor(points * unit + 0.5 + 1e-9) / unit


def as_given(report: SubmissionReport, week: Week, decimals: int) -> SubmissionReport:
    """A report with its scores as they are given: each exercise's is rounded, and then summed."""
    exercises = tuple(
        msgspec.structs.replace(e, score=rounded(e.score, decimals)) for e in report.exercises
    )
    score = rounded(sum(e.score for e in counted(week, exercises)), decimals)
    return msgspec.structs.replace(report, exercises=exercises, score=score)
