"""Decide the result of each exercise of a submission by the course's rules.

1. Helpers, which are exercises that other exercises call, are judged before their callers. If a
   helper is wrong but a genuine attempt, the tests of its callers run again with a correct version
   of the helper (`dependencies.error_carried_forward`).
2. An exercise earns the points of the run with correct helpers, unless the run as submitted passes
   more tests and earns more points.
3. Misconceptions in the bank that produce the same outputs as the exercise name its mistakes
   (`naming`). Each misconception explains some of the failed tests. If parameters do not load,
   inputs of a different shape raise exceptions, or results have a wrong type, dtype or shape, the
   rest of the exercise is judged as if they fitted, and this mistake is charged once.
4. If a single edit of the exercise makes all tests pass, the exercise has only this one mistake.
   If the costs of mistakes do not determine the points, but the exercise computes enough of the
   values that lead to the correct result, the mistakes are charged, or at most half of the points.
5. An exercise with a named mistake earns points for the rest of the work only if its outputs show
   that work (`triviality`). Otherwise, an exercise that passes at most half of its tests earns no
   points if trivial programs pass the same tests.
6. `model.report.scoring` computes the points from this evidence.

docs/instructor.md explains the rules in "What counts as work" and "Errors carried forward".
"""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..model.course import Scoring
from ..model.report import scoring
from ..model.report.findings import FINDINGS, STEPS, edit_name
from ..model.report.schema import Diagnosis, ExerciseReport, Verdict
from .dependencies.error_carried_forward import (
    CalledHelpers,
    CarriedForward,
    Inherited,
    has_own_failures,
    terminates,
)
from .diagnosis.match_bank import Named
from .naming import Contract, MistakeNames
from .outcomes import BestEffort, Flaw
from .running.pytest_plugin import Ran
from .running.test_runner import Files, Load, Runs
from .triviality.answer_contents import has_outputs
from .triviality.work_check import WorkCheck

# An exercise that passes more than this weighted share of its tests shows work. `verify` reports
# trivial programs that pass more.
_TRIVIAL_SHARE = 0.5
# An exercise that computes this share of a correct program's steps loses at most the second share.
_ENOUGH_COMPUTED, _UNNAMED_COSTS = 0.3, 0.5
_UNNAMED = Diagnosis(edit_name(STEPS), *FINDINGS[edit_name(STEPS)][:2])


class JudgedExercise(NamedTuple):
    """The evidence for an exercise's points, its test results, and its inherited failures."""

    evidence: scoring.Evidence
    ran: list[Ran]
    inherited: Inherited


class Judge:
    """Judges the exercises of a week's submissions.

    rule:  the `scoring` settings in course.yaml
    names: the object that names mistakes and adds their lines to reports
    load:  a function that loads a submission with correct versions of the named exercises
    """

    def __init__(
        self,
        runs: Runs,
        rule: Scoring,
        best_effort: BestEffort,
        carried_forward: CarriedForward,
        load: Load,
    ) -> None:
        self.rule = rule
        self.names = MistakeNames(runs, best_effort)
        self._runs, self._bank, self._best_effort = runs, runs.bank, best_effort
        self._carried_forward, self._load = carried_forward, load
        self._work = WorkCheck(runs, load)

    def judge(self, ran: Iterable[Ran], files: Files) -> dict[str, JudgedExercise]:
        """Judge every exercise, helpers before their callers; return the results by exercise."""
        runs: dict[str, list[Ran]] = {e.name: [] for e in self._runs.week.exercises}
        for one in ran:
            runs[one.exercise].append(one)
        tests = [one for some in runs.values() for one in some]
        if not any(one.report.verdict.failed for one in tests):
            return {e: self._judged(e, runs[e], Inherited(), files) for e in runs}
        follows = self.rule.follow_through != "none" and not any(one.fault for one in tests)
        called = self._carried_forward.begin(self._runs.source(files))
        self.names.begin()
        judged = dict[str, JudgedExercise]()
        attempts = dict[str, bool]()  # wrong but genuine helpers; True if nearly correct
        for name, helpers in called.items():
            inherited = Inherited()
            wrong = helpers.replaceable(attempts)
            if follows and wrong and has_own_failures(runs[name], inherited):
                found = {m.name for w in wrong for m in judged[w].evidence.mistakes}
                inherited = self._best_effort.run(
                    f"{name}, error carried forward",
                    partial(self._carried_forward.inherited, runs[name], wrong, files, found),
                    inherited,
                )
            best = self._with_better_helpers(name, runs[name], inherited, files, helpers)
            own, replaced = _not_inherited(best), best.inherited.replaced
            evidence = self.names.explain(best.evidence, files, own, replaced)
            judged[name] = self._with_steps(best._replace(evidence=evidence), own)
            is_called = any(name in other.own for other in called.values())
            wrong_itself = has_own_failures(runs[name], inherited) and terminates(runs[name])
            if is_called and wrong_itself and self._is_attempt(judged[name], files):
                attempts[name] = self._is_nearly_right(judged[name])
        return judged

    def reports(
        self, judged: Iterable[JudgedExercise], electives_counted: int | None
    ) -> tuple[ExerciseReport, ...]:
        """Return the reports of the exercises."""
        evidence = [one.evidence for one in judged]
        return scoring.exercise_reports(evidence, self.rule, electives_counted)

    # Rules for errors carried forward

    def _with_better_helpers(
        self,
        exercise: str,
        ran: list[Ran],
        inherited: Inherited,
        files: Files,
        helpers: CalledHelpers,
    ) -> JudgedExercise:
        """Judge an exercise with correct helpers, or as submitted if that earns more points.

        The run as submitted is considered only if it passes more tests by weight. Otherwise, a
        wrong helper could make a bad exercise look as if it had only a small mistake.
        """
        rerun = [inherited.rerun.get(r.report.name, r) for r in ran]
        with_helpers = self._judged(exercise, rerun, inherited, files, helpers.own)
        none = Inherited()
        if self._passed_weight(ran, none) <= self._passed_weight(ran, inherited):
            return with_helpers
        submitted = self._judged(exercise, ran, none, files, helpers.own)
        return max(with_helpers, submitted, key=lambda one: self._report(one).score)

    def _passed_weight(self, ran: Iterable[Ran], inherited: Inherited) -> float:
        """Return the weight of tests that pass in every run, plus credit for inherited failures."""
        weight = 0.0
        for r in ran:
            if r.report.verdict.failed:
                share = self.rule.carried * inherited.credit.get(r.report.name, 0.0)
                weight += r.report.weight * share
            elif r.report.name not in inherited.rerun:
                weight += r.report.weight
        return weight

    def _is_attempt(self, judged: JudgedExercise, files: Files) -> bool:
        """Return True if an exercise is a genuine attempt.

        An exercise is a genuine attempt if it earned points, if a misconception explains most of
        its failures, or if its outputs contain the correct values in a different order or on a
        different scale. Constants, wrong types and crashes are not genuine attempts.
        """
        name = judged.evidence.exercise.name
        tried = self._best_effort.run(f"{name}, tried", lambda: self._tried(judged, files), judged)
        mistakes = {m.name for m in tried.evidence.mistakes}
        named = (d for d in tried.evidence.diagnoses if d.name in mistakes)
        explained = any(not d.is_minor for d in named)
        return (
            explained
            or self._report(tried).score > 0
            or self._work.resembles_solution(name, tried.ran)
        )

    def _tried(self, judged: JudgedExercise, files: Files) -> JudgedExercise:
        """Judge an exercise again without its source rules if they stopped all tests from running.

        Otherwise, return `judged` unchanged. The tests run on a new target, because code that
        breaks a rule could affect other exercises.
        """
        if any(r.answers or not r.report.verdict.breaks_a_rule for r in judged.ran):
            return judged
        name, tests = judged.evidence.exercise.name, {r.report.name for r in judged.ran}
        with closing(self._load(files, ())) as target:
            ran = self._runs.run(target, files, name, tests=tests, replaced=(name,))
        return self._judged(name, ran, Inherited(), files)

    def _is_nearly_right(self, judged: JudgedExercise) -> bool:
        """Return True if an exercise earned at least half of its points.

        If points were deducted for named mistakes, more than a tenth of the points is enough.
        """
        report = self._report(judged)
        share = report.score / report.max_score if report.max_score else 0.0
        return share >= 0.5 or (bool(report.deductions) and share > 1 - scoring.COST_WITHOUT_WORK)

    def _report(self, judged: JudgedExercise) -> ExerciseReport:
        """Return the exercise's report, scored as if no other exercise had the same mistakes."""
        (report,) = scoring.exercise_reports([judged.evidence], self.rule)
        return report

    # Evidence for one exercise

    def _judged(
        self,
        exercise: str,
        ran: list[Ran],
        inherited: Inherited,
        files: Files,
        calls: frozenset[str] = frozenset(),
    ) -> JudgedExercise:
        """Collect the evidence for an exercise from the results of its tests."""
        evidence = scoring.Evidence(
            exercise=self._runs.week.exercise(exercise),
            tests=tuple(r.report for r in ran),
            inherits=inherited.helpers,
            carried=inherited.credit,
            replaced=inherited.replaced,
            calls=calls - set(inherited.replaced),
        )
        judged = JudgedExercise(evidence, ran, inherited)
        own = _not_inherited(judged)
        if not any(r.report.verdict.failed for r in own):
            return judged
        evidence = self._with_mistakes(judged, own, files)
        shows_work = self._best_effort.run(
            f"{exercise}, work", lambda: self._shows_work(evidence), True
        )
        return judged._replace(evidence=replace(evidence, shows_work=shows_work))

    def _with_mistakes(
        self, judged: JudgedExercise, ran: list[Ran], files: Files
    ) -> scoring.Evidence:
        """Return the evidence with the matching misconceptions, and the failures they explain.

        If the exercise earns more points once it fits its contract (`WorkCheck.fits`), the broken
        contracts are the first mistakes, and the other mistakes are those of the fitted run.
        """
        exercise, replaced = judged.evidence.exercise.name, judged.inherited.replaced
        run, step = self._best_effort.run, f"{exercise}, contract"
        fits = list[dict[str, Ran]]()
        if self.rule.by == "mistakes":
            fits = run(step, lambda: self._work.fits(exercise, ran, files, replaced), fits)
        found = [self._with_named(judged, ran, files, fits[0] if fits else {})]
        for fitted in fits:
            passed = frozenset(t for t, r in fitted.items() if not r.report.verdict.reported)
            rest = self._with_named(judged, [fitted.get(r.report.name, r) for r in ran], files, {})
            solved = passed | rest.explained
            again = {t: fitted[t] for t in solved & fitted.keys()}
            name = partial(self.names.contracts, exercise, ran, again, files)
            if contracts := run(step, name, list[Contract]()):
                met = replace(
                    rest,
                    mistakes=(*(mistake for mistake, _ in contracts), *rest.mistakes),
                    explained=solved,
                    has_outputs=bool(passed) or rest.has_outputs,
                    diagnoses=(*(diagnosis for _, diagnosis in contracts), *rest.diagnoses),
                    fitted=passed,
                    contracts=len(contracts),
                )
                found.append(met)
        return max(found, key=lambda e: self._report(judged._replace(evidence=e)).score)

    def _with_named(
        self, judged: JudgedExercise, ran: list[Ran], files: Files, fitted: Mapping[str, Ran]
    ) -> scoring.Evidence:
        """Return the evidence with the misconceptions that match these results.

        fitted: the results of the failed tests if the exercise fits its contract
        """
        exercise, run = judged.evidence.exercise.name, self._best_effort.run
        named = list[Named]()
        if any(r.report.verdict.attempted for r in judged.ran):
            find = partial(self.names.misconceptions, exercise, ran, files)
            named = run(f"{exercise}, name", find, named)
        tests = {n.name: n.tests for n in named}
        if named and self.rule.by == "mistakes":
            work = partial(self._work.tests_with_work, exercise, tests, ran, fitted)
            tests = run(f"{exercise}, price", work, {})
        bank = {m.name: m for m in self._bank.of_exercise(exercise)}
        explained = frozenset[str]().union(*(tests.get(n.name, n.tests) for n in named))
        return replace(
            judged.evidence,
            mistakes=tuple(
                scoring.Mistake(n.name, bank[n.name].cost, bank[n.name].belief, n.name in tests)
                for n in named
            ),
            explained=explained,
            has_outputs=has_outputs(r for r in ran if r.report.name in explained),
            diagnoses=tuple(
                Diagnosis(n.name, bank[n.name].title, bank[n.name].hint, n.explains, n.of, n.mostly)
                for n in named
            ),
        )

    def _with_steps(self, judged: JudgedExercise, ran: Iterable[Ran]) -> JudgedExercise:
        """Charge mistakes instead of failed tests if the exercise computes enough correct values.

        The mistakes are the named ones if they explain most failures. Otherwise, one unnamed
        mistake is charged, which costs half of the points, or as much as the named ones.
        """
        evidence, rule = judged.evidence, self.rule
        failed = [r for r in ran if r.report.verdict.rejects_answers and r.flaw is Flaw.VALUE]
        if evidence.fitted or evidence.computed < _ENOUGH_COMPUTED or not has_outputs(failed):
            return judged
        if scoring.Tally(evidence, rule).mistakes_decide or not self._work.most_take_work(failed):
            return judged
        mistakes = tuple(replace(m, shows_work=True) for m in evidence.mistakes)
        named = replace(evidence, mistakes=mistakes, has_outputs=True)
        cost = max(_UNNAMED_COSTS, sum(m.cost or 0.0 for m in mistakes))
        unnamed = replace(
            named,
            mistakes=(scoring.Mistake(_UNNAMED.name, cost),),
            diagnoses=(*evidence.diagnoses, _UNNAMED),
            explained=frozenset(r.report.name for r in failed),
        )
        versions = [judged._replace(evidence=e) for e in (evidence, named, unnamed)]
        return max(versions, key=lambda one: self._report(one).score)

    def _shows_work(self, evidence: scoring.Evidence) -> bool:
        """Return False if an exercise passes at most half of its tests, and only trivial ones.

        A test is trivial if a trivial program passes it. Return True if no test passes, or if named
        mistakes determine the points.
        """
        tally = scoring.Tally(evidence, self.rule)
        if not 0.0 < tally.passed_share <= _TRIVIAL_SHARE or tally.mistakes_decide:
            return True
        credited = evidence.fitted.union(t for t, share in evidence.carried.items() if share)
        passed = (t.name for t in evidence.tests if t.verdict is Verdict.PASS or t.name in credited)
        return self._work.any_is_nontrivial(evidence.exercise.name, passed)


def _not_inherited(judged: JudgedExercise) -> list[Ran]:
    return [r for r in judged.ran if r.report.name not in judged.inherited.credit]
