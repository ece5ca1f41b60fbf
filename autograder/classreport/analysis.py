"""Summarise the reports of a class: scores, exercises, tests and misconceptions.

A test passes for a student if it passes on every device and dtype on which it ran. Its
discrimination is the point-biserial correlation between passing it and the share of the other
tests' weight that a student passed; the test itself is excluded so that it does not correlate with
itself. With fewer than eight students, the value would be mostly noise, so it is None.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ..model.course import Week
from ..model.course.bank import Misconception
from ..model.report.schema import (
    Diagnosis,
    Ending,
    ExerciseReport,
    Report,
    SubmissionReport,
    TestReport,
    Verdict,
    base_of,
)

MIN_STUDENTS = 8
_Reports = Sequence[SubmissionReport]


class Item(msgspec.Struct, frozen=True):
    """The results of one test function for the whole class."""

    name: str
    claim: str
    public: bool
    ran: int
    passed: int
    discrimination: float | None

    @property
    def rate(self) -> float:
        return self.passed / self.ran if self.ran else 0.0

    @property
    def words(self) -> str:
        """Describe the discrimination in words."""
        if not self.ran:
            return "not run"
        if self.passed in (0, self.ran):
            return "all pass" if self.passed else "none passes"
        if self.discrimination is None:
            return "too few students" if self.ran < MIN_STUDENTS else "other tests do not differ"
        if self.discrimination < 0:
            return "check this test: weaker students pass it more often"
        if self.discrimination >= 0.3:
            return "well"
        return "a little" if self.discrimination >= 0.1 else "hardly"


class SharedMistake(msgspec.Struct, frozen=True):
    """A misconception and the students who have it. `known`: its entry in the bank, or None."""

    exercise: str
    name: str
    title: str
    hint: str
    students: tuple[str, ...]
    known: Misconception | None = None


class SharedExample(msgspec.Struct, frozen=True):
    """A counterexample, and the students whose submissions are wrong on it."""

    exercise: str
    call: str
    expected: str
    students: tuple[str, ...]


class ExerciseSummary(msgspec.Struct, frozen=True):
    name: str
    points: float
    mean_share: float
    complete: int
    begun: int
    items: tuple[Item, ...]


class WeekSummary(msgspec.Struct):
    """The results of a class in one week. Shares are fractions of the maximum automatic score."""

    week: str
    title: str
    graded: list[SubmissionReport]
    refused: list[SubmissionReport]
    faults: list[SubmissionReport]
    exercises: list[ExerciseSummary] = []
    mistakes: list[SharedMistake] = []
    examples: list[SharedExample] = []
    not_run: dict[str, int] = {}  # reason -> number of tests
    devices: tuple[str, ...] = ()
    foreign: Mapping[str, str] = {}  # student -> the user who submitted
    earlier: Mapping[str, Sequence[SubmissionReport]] = {}  # superseded

    @property
    def attempts(self) -> dict[str, tuple[str, ...]]:
        """Return the submissions' attempts to circumvent the grading, by student."""
        everybody = (*self.graded, *self.refused, *self.faults)
        return {s.name: s.attempts for s in everybody if s.attempts}

    @property
    def shares(self) -> list[float]:
        return [s.score / s.max_score for s in self.graded if s.max_score]

    @property
    def histogram(self) -> list[int]:
        """Return the number of students in each tenth of the score range, lowest first."""
        tenths = Counter(min(9, int(share * 10 + 1e-9)) for share in self.shares)
        return [tenths[n] for n in range(10)]

    @property
    def median(self) -> float:
        return statistics.median(self.shares) if self.shares else 0.0

    @property
    def mean(self) -> float:
        return statistics.fmean(self.shares) if self.shares else 0.0


def summarize(
    week: Week,
    report: Report,
    foreign: Mapping[str, str] | None = None,
    bank: Iterable[Misconception] = (),
) -> WeekSummary:
    """Summarise a week's report.

    foreign: the users who submitted in a student's name, by student
    bank: the week's known misconceptions, for `SharedMistake.known`
    """
    by_verdict: dict[Ending, list[SubmissionReport]] = defaultdict(list)
    for submission in sorted(report.submissions, key=lambda s: s.name):
        by_verdict[submission.verdict].append(submission)
    graded = by_verdict[Ending.GRADED]
    return WeekSummary(
        week=week.name,
        title=week.title,
        graded=graded,
        refused=by_verdict[Ending.REFUSED],
        faults=by_verdict[Ending.GRADER_FAULT],
        exercises=[_exercise(e.name, e.points, graded) for e in week.exercises],
        mistakes=_mistakes(graded, {m.name: m for m in bank}),
        examples=_examples(graded),
        not_run=_not_run(graded),
        devices=report.devices,
        foreign=foreign or {},
    )


def _exercise(name: str, points: float, graded: _Reports) -> ExerciseSummary:
    done = {s.name: e for s in graded for e in s.exercises if e.name == name}
    shares = [e.score / e.max_score for e in done.values() if e.max_score]
    written = (e for e in done.values() if not e.unwritten)
    return ExerciseSummary(
        name=name,
        points=points,
        mean_share=statistics.fmean(shares) if shares else 0.0,
        complete=sum(share >= 1 for share in shares),
        begun=sum(any(t.verdict.counted for t in e.tests) for e in written),
        items=tuple(_items(done, graded)),
    )


def _items(done: Mapping[str, ExerciseReport], graded: _Reports) -> Iterator[Item]:
    """Yield the class's results in each test of an exercise, given its reports by student."""
    examples: dict[str, TestReport] = {}
    passed: dict[str, dict[str, bool]] = defaultdict(dict)
    for student, report in done.items():
        for test in report.tests:
            function = base_of(test.name)
            examples.setdefault(function, test)
            if test.verdict.counted:
                others = passed[function].get(student, True)
                passed[function][student] = others and test.verdict is Verdict.PASS
    for function, example in examples.items():
        outcomes = passed[function]
        pairs = [(outcomes[s.name], _rest(s, function)) for s in graded if s.name in outcomes]
        yield Item(
            name=function,
            claim=example.claim,
            public=example.public,
            ran=len(pairs),
            passed=sum(outcomes.values()),
            discrimination=point_biserial(pairs),
        )


def _rest(submission: SubmissionReport, function: str) -> float:
    """Return the passed share of the weight of all other tests, or 0 if there are none."""
    others = [
        t
        for e in submission.exercises
        for t in e.tests
        if t.verdict.counted and base_of(t.name) != function
    ]
    total = sum(t.weight for t in others)
    return sum(t.weight for t in others if t.verdict is Verdict.PASS) / total if total else 0.0


def point_biserial(pairs: Sequence[tuple[bool, float]]) -> float | None:
    """Return the correlation of passing with a score; None if undefined or for few students."""
    if len(pairs) < MIN_STUDENTS:
        return None
    passed, scores = zip(*((float(good), round(score, 9)) for good, score in pairs), strict=True)
    try:
        return statistics.correlation(passed, scores)
    except statistics.StatisticsError:  # all pass, none passes, or all scores are equal
        return None


def _mistakes(graded: _Reports, bank: Mapping[str, Misconception]) -> list[SharedMistake]:
    """Group students by their likeliest misconception in each exercise, most common first."""
    students: dict[tuple[str, str], list[str]] = defaultdict(list)
    texts: dict[tuple[str, str], Diagnosis] = {}
    for submission in graded:
        for exercise in submission.exercises:
            if exercise.diagnosis:
                students[exercise.name, exercise.diagnosis[0]].append(submission.name)
            for one in exercise.explained:
                texts.setdefault((exercise.name, one.name), one)
    found = []
    for (task, name), who in students.items():
        text = texts.get((task, name), Diagnosis(name, name, ""))
        known = bank.get(name)
        found.append(SharedMistake(task, name, text.title, text.hint, tuple(who), known))
    return sorted(found, key=lambda m: (-len(m.students), m.exercise, m.name))


def _examples(graded: _Reports) -> list[SharedExample]:
    """Group students by their counterexample in each exercise, most common first."""
    students: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for submission in graded:
        for exercise in submission.exercises:
            if found := exercise.counterexample:
                students[exercise.name, found.call, found.expected].append(submission.name)
    examples = [SharedExample(*example, tuple(who)) for example, who in students.items()]
    return sorted(examples, key=lambda e: (-len(e.students), e.exercise, len(e.call)))


def _not_run(graded: _Reports) -> dict[str, int]:
    tests = {
        (test.message or "no reason was given", test.name)
        for submission in graded
        for exercise in submission.exercises
        for test in exercise.tests
        if not test.verdict.ran
    }
    return dict(Counter(reason for reason, _ in sorted(tests)).most_common())
