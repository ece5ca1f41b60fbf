"""How each exercise of a submission stands: its mistakes by name, what they cost, where they are.

What the hidden tests answered is read here beside what the solution and the misconceptions of the
bank answer. Points depend on names alone, and on no clock; lines and what tests show by themselves
are told besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..model.course.bank import Misconception
from ..model.course.loader import Scoring
from ..model.report import scoring
from ..model.report.schema import Diagnosis, ExerciseReport
from ..model.report.verdicts import Verdict
from .best_effort import BehindVerdicts
from .dependencies.error_carried_forward import Inherited
from .diagnosis.equivalence import state_in_part
from .diagnosis.match_bank import Named, diagnose
from .diagnosis.symptoms import by_symptom
from .localization.by_location import IGNORES, name_by_location, with_names
from .localization.localizer import LineFinder
from .outcomes import Flaw
from .running.pytest_plugin import Ran
from .running.test_runner import Runs
from .targets.in_process import InProcess, Target
from .triviality.effortless import effortless, seen_work
from .triviality.reads import required_arguments, unread
from .triviality.shown_work import (
    came_to_something,
    empty_when_fitted,
    resembles_right_answers,
    without_work,
)
from .triviality.trivial_programs import TrivialPasses

Files = Mapping[str, bytes]
# Weighted share of the tests; `verify` reports a trivial program that passes more.
_FEW = 0.5
# Where every test ended so, there is nothing to name.
_NOTHING_TO_NAME = (Verdict.UNWRITTEN, Verdict.NOT_RUN)


class JudgedExercise(NamedTuple):
    """An exercise, what its tests answered and what it inherits."""

    standing: scoring.Evidence
    ran: list[Ran]
    carried: Inherited


class Standings:
    """What is found out about the exercises of a week's submissions.

    rule: what decides points. finder: looks for lines, if set
    target: where a submission answers, beside right exercises of these names
    """

    def __init__(
        self,
        runs: Runs,
        rule: Scoring,
        behind: BehindVerdicts,
        target: Callable[[Files, Iterable[str]], Target],
    ) -> None:
        self._runs, self._behind, self._target = runs, behind, target
        self._bank = runs.bank
        self.rule = rule
        self._trivial = TrivialPasses(runs)
        self.finder: LineFinder | None = None

    def judged(
        self,
        exercise: str,
        ran: list[Ran],
        carried: Inherited,
        files: Files,
        calls: frozenset[str] = frozenset(),
    ) -> JudgedExercise:
        """Judge an exercise with correct helpers, or as it was submitted if that earns more.

        Not if fewer tests pass as it was: what a wrong helper makes of an exercise that is worse
        may look like a small mistake. `calls`: the exercises that it calls.
        """

        def judged(ran: list[Ran], carried: Inherited) -> JudgedExercise:
            standing = self._standing(exercise, ran, carried, files)
            standing = replace(standing, calls=calls - set(carried.lent))
            return JudgedExercise(standing, ran, carried)

        beside = judged([carried.again.get(r.report.name, r) for r in ran], carried)
        none = Inherited()
        if self._passed(ran, none) <= self._passed(ran, carried):
            return beside
        return max(beside, judged(ran, none), key=lambda one: self._alone(one).score)

    def is_attempt(self, judged: JudgedExercise) -> bool:
        """Return True if an exercise is a genuine attempt.

        It earned points, misconceptions explain most of its failures, or its outputs hold the right
        values in another order or on another scale. Constants, wrong types and crashes are none of
        that.
        """
        exercise = judged.standing.exercise.name
        named = any(not d.is_minor for d in judged.standing.diagnoses)
        if named or self._alone(judged).score > 0:
            return True
        right = self._runs.right_answers(exercise)
        if not resembles_right_answers(judged.ran, right):
            return False
        failed = [r for r in judged.ran if r.report.verdict.failed]
        told = effortless(failed, right, self._runs.recorded(exercise))
        return 2 * sum(told.values()) <= len(told)

    def is_nearly_right(self, judged: JudgedExercise) -> bool:
        """Return True if an exercise earned half of its points, or misconceptions decide them."""
        report = self._alone(judged)
        return bool(report.deductions) or 2 * report.score >= report.max_score

    def _passed(self, ran: Iterable[Ran], carried: Inherited) -> float:
        """The weight of the tests that pass, and of what is kept of those that are inherited."""
        kept = self.rule.carried
        return sum(
            r.report.weight * (kept * carried.credit.get(r.report.name, 0.0) if failed else 1.0)
            for r in ran
            if (failed := r.report.verdict.failed) or r.report.name not in carried.again
        )

    def _alone(self, judged: JudgedExercise) -> ExerciseReport:
        """Return the report of an exercise if no other one has the same mistake."""
        (report,) = scoring.exercise_reports([judged.standing], self.rule)
        return report

    def _standing(
        self, exercise: str, ran: list[Ran], carried: Inherited, files: Files
    ) -> scoring.Evidence:
        """What the tests found out about an exercise: mistakes by name, and what it inherits."""
        named: list[Named] = []
        own = [r for r in ran if r.report.name not in carried.credit]
        failed = any(r.report.verdict.failed for r in own)
        if failed and not all(r.report.verdict in _NOTHING_TO_NAME for r in ran):
            named = self._behind.find(
                f"{exercise}, name", lambda: self._named(exercise, own, files), named
            )
        by_name = {m.name: m for m in self._bank.of_exercise(exercise)}
        none: dict[str, frozenset[str]] = {}
        priced = self._behind.find(
            f"{exercise}, price",
            lambda: self._priced(exercise, named, own, files, carried.lent),
            none,
        )
        explained = frozenset[str]().union(*(priced.get(n.name, n.tests) for n in named))
        standing = scoring.Evidence(
            exercise=self._runs.week.exercise(exercise),
            tests=tuple(r.report for r in ran),
            mistakes=tuple(
                scoring.Mistake(
                    n.name,
                    by_name[n.name].cost if n.name in priced else None,
                    by_name[n.name].belief,
                )
                for n in named
            ),
            explained=explained,
            has_outputs=came_to_something(r for r in own if r.report.name in explained),
            diagnoses=tuple(_explained(n, by_name[n.name]) for n in named),
            inherits=carried.helpers,
            carried=carried.credit,
            replaced=carried.lent,
        )
        if not failed:
            return standing
        worked = self._behind.find(f"{exercise}, work", lambda: self._worked(standing, own), True)
        return replace(standing, shows_work=worked)

    def _named(self, exercise: str, own: list[Ran], files: Files) -> list[Named]:
        """Name the misconceptions; a name whose program reads more than the student's is not one.

        An argument may be left unread by one of several misconceptions.
        """
        bank = self._runs.of_misconceptions(exercise)
        right = self._runs.right_answers(exercise) if bank else {}
        named = diagnose(own, bank, right)
        required = required_arguments(self._bank.solution, exercise)
        mine = unread("\n".join(self._runs.lines(files)), exercise, required)
        if not named or not mine:
            return named
        sources = {m.name: m.source for m in self._bank.of_exercise(exercise)}
        theirs = {name: unread(text, exercise, required) for name, text in sources.items()}
        if mine <= frozenset().union(*(theirs[n.name] for n in named)):
            return named
        fitting = {name: runs for name, runs in bank.items() if mine <= theirs[name]}
        return diagnose(own, fitting, right)

    def _worked(self, standing: scoring.Evidence, own: list[Ran]) -> bool:
        """Return False if a trivial program passes all the tests that pass.

        Parameters that do not fit hide the rest, so they tell nothing.
        """
        if any(r.flaw is Flaw.STATE for r in own):
            return True
        share = scoring.passed_share(standing, self.rule)
        if not 0.0 < share <= _FEW or scoring.decided_by_mistakes(standing, self.rule):
            return True
        passed = (
            t.name
            for t in standing.tests
            if t.verdict is Verdict.PASS or standing.carried.get(t.name)
        )
        return self._trivial.show_work(standing.exercise.name, passed)

    def _priced(
        self,
        exercise: str,
        named: list[Named],
        ran: list[Ran],
        files: Files,
        lent: tuple[str, ...],
    ) -> dict[str, frozenset[str]]:
        """Those mistakes beside which the rest of the exercise is there, and where that is seen."""
        found = {n.name: n.tests for n in named}
        if not named or self.rule.by != "mistakes":
            return found
        bank, right = self._runs.of_misconceptions(exercise), self._runs.right_answers(exercise)
        empty = {name: without_work(ran, bank[name], right) for name in found}
        found = {n: found[n] - tests for n, tests in empty.items() if tests is not None}
        found = self._beside_effort(exercise, found, ran)
        if found and any(r.report.verdict.failed and r.flaw is Flaw.STATE for r in ran):
            source = self._runs.lines(files)

            def run(target: Target) -> list[Ran]:
                return self._runs.run(target, source, exercise, files)

            def wrong() -> Iterator[Target]:
                for one in self._bank.of_exercise(exercise):
                    if one.name in found:
                        yield InProcess(self._runs.written(f"-fitted-{one.name}", one.source))

            hollow = empty_when_fitted(self._target(files, lent), run, wrong)
            found = {name: tests - hollow for name, tests in found.items()}
        return found

    def _beside_effort(
        self, exercise: str, found: dict[str, frozenset[str]], ran: list[Ran]
    ) -> dict[str, frozenset[str]]:
        """Leave out the mistakes beside which no work is seen, and the tests that show none."""
        runs, asked = self._runs, self._runs.recorded(exercise)
        right, bank = runs.right_answers(exercise), runs.of_misconceptions(exercise)
        kept = {}
        for name, tests in found.items():
            seen = seen_work(ran, bank[name], tests, right, asked)
            passed = (r.report.name for r in ran if r.report.verdict is Verdict.PASS)
            if seen is None and self._trivial.show_work(exercise, passed):
                seen = tests
            if seen is not None:
                kept[name] = seen
        return kept

    def told(
        self,
        report: ExerciseReport,
        files: Files,
        judged: JudgedExercise,
    ) -> ExerciseReport:
        """The report with where its mistake is and, if names leave most of it open, what its tests
        show; what is inherited has its place elsewhere."""
        carried, explained = judged.carried, judged.standing.explained
        own = [r for r in judged.ran if r.report.name not in carried.credit]
        failing = [r for r in own if r.report.verdict.failed]
        if not failing or any(r.fault for r in own):
            return report
        finder, names = self.finder, report.diagnosis
        open_ones = [r for r in failing if r.report.name not in explained]

        def named_by_place() -> ExerciseReport:
            assert finder is not None
            found = finder.find(files, report.name, own, names, carried.lent)
            return name_by_location(report, found, self._bank)

        def named_by_symptom() -> ExerciseReport:
            right = self._runs.right_answers(report.name)
            shown = by_symptom(open_ones, own, right, self._runs.asked(report.name))
            every = (*report.explained, *self._by_state(report, own), *shown)
            return with_names(report, tuple(sorted(every, key=lambda d: d.is_minor)))

        if finder is not None:
            report = self._behind.find(f"{report.name}, line", named_by_place, report)
        named = report.diagnosis not in (names, (IGNORES,))
        if named or 2 * len(open_ones) <= len(failing):
            return report
        if all(r.report.verdict in _NOTHING_TO_NAME for r in failing):
            return report
        return self._behind.find(f"{report.name}, symptom", named_by_symptom, report)

    def _by_state(self, report: ExerciseReport, ran: list[Ran]) -> Iterator[Diagnosis]:
        """The misconceptions whose parameters are among those that do not fit, with others."""
        failed = {r.report.name: r for r in ran if r.report.verdict.failed}
        if not any(r.flaw is Flaw.STATE for r in failed.values()):
            return
        of_state = {
            name: [r for r in runs if r.flaw is Flaw.STATE]
            for name, runs in self._runs.of_misconceptions(report.name).items()
        }
        for one in self._bank.of_exercise(report.name):
            theirs = [r for r in of_state.get(one.name, ()) if r.report.name in failed]
            if one.name in report.diagnosis or len(theirs) != len(of_state.get(one.name, ())):
                continue
            if theirs and all(state_in_part(failed[r.report.name], r) for r in theirs):
                yield Diagnosis(one.name, one.title, one.hint, len(theirs), len(failed))


def _explained(named: Named, by: Misconception) -> Diagnosis:
    return Diagnosis(by.name, by.title, by.hint, named.explains, named.of, named.mostly)
