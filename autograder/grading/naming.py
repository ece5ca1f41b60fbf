"""Name the mistakes in an exercise, using three sources.

1. Misconceptions in the bank that produce the same outputs as the submission
   (`diagnosis.match_bank`). Only these names affect the points, so they are determined first.
2. Small edits: if a single edit of the student's code makes failed tests pass, the kind of the edit
   names the mistake (`localization`).
3. Symptoms: properties of wrong outputs, and of exceptions (`diagnosis.symptoms`).

Sources 2 and 3 never change the points, except for the symptom of parameters that do not load.
Edits name a mistake only if no misconception matches, and symptoms only if most failures are still
unexplained.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from ..model.course.bank import Misconception
from ..model.report.findings import FINDINGS, IGNORED, edit_name
from ..model.report.schema import Diagnosis, ExerciseReport
from ..model.report.scoring import COST_OF_STATE, Mistake
from ..repair import required_parameters, unread_parameters
from .counterexample import CounterexampleSearch
from .dependencies.error_carried_forward import Inherited
from .diagnosis.match_bank import Named, diagnose
from .diagnosis.symptoms import by_symptom
from .localization.localizer import LineFinder, Places, lines_of
from .outcomes import BestEffort, Flaw
from .running.pytest_plugin import Ran
from .running.test_runner import Files, Runs


class Failures(NamedTuple):
    """The evidence from which the mistakes of an exercise are located and named.

    ran:       the results of the tests, without inherited failures
    inherited: the failures that the exercise inherits from its helpers
    explained: the names of the failed tests that misconceptions in the bank explain
    """

    ran: Sequence[Ran]
    inherited: Inherited
    explained: frozenset[str]


class Contract(NamedTuple):
    """A broken contract: parameters that do not load, or inputs of shapes that raise exceptions."""

    mistake: Mistake
    diagnosis: Diagnosis


class MistakeNames:
    """Names the mistakes in a week's submissions.

    finder:   locates lines, or None
    examples: searches counterexamples, or None
    """

    def __init__(self, runs: Runs, best_effort: BestEffort) -> None:
        self._runs, self._bank, self._best_effort = runs, runs.bank, best_effort
        self.finder: LineFinder | None = None
        self.examples: CounterexampleSearch | None = None

    def begin(self) -> None:
        """Start a new submission with its full time budgets."""
        for search in (self.finder, self.examples):
            if search is not None:
                search.begin()

    def misconceptions(self, exercise: str, ran: Sequence[Ran], files: Files) -> list[Named]:
        """Return the misconceptions that match the outputs of a submission.

        A function that never reads a required argument cannot use that argument wrongly. Therefore,
        if the submission ignores an argument that every matching misconception reads, match again
        with only those misconceptions that ignore every argument the submission ignores.
        """
        bank = self._runs.of_misconceptions(exercise)
        right = self._runs.right_answers(exercise) if bank else {}
        named = diagnose(ran, bank, right)
        required = required_parameters(self._bank.solution, exercise)
        mine = required & unread_parameters("\n".join(self._runs.lines(files)), exercise)
        if not named or not mine:
            return named
        theirs = {
            m.name: required & unread_parameters(m.source, exercise)
            for m in self._bank.of_exercise(exercise)
        }
        if mine <= frozenset().union(*(theirs[n.name] for n in named)):
            return named
        fitting = {name: runs for name, runs in bank.items() if mine <= theirs[name]}
        return diagnose(ran, fitting, right)

    def contract(
        self, exercise: str, ran: Sequence[Ran], explained: frozenset[str], files: Files
    ) -> Contract:
        """Name the broken contract of an exercise.

        explained: failed tests that pass, or have another name, once the exercise fits its contract
        """
        broken = [r for r in ran if r.report.name in explained]
        state = [r for r in broken if r.flaw is Flaw.STATE]
        total = sum(r.report.verdict.failed for r in ran)
        known: Misconception | None = self._bank.adapters.get(exercise)
        if state:
            names = [n.name for n in self.misconceptions(exercise, state, files)][:1]
            known = next((m for m in self._bank.of_exercise(exercise) if m.name in names), None)
        if known is None or known.cost is None:
            shown = by_symptom(state, ran, {})[0]
            return Contract(Mistake(shown.name, COST_OF_STATE), shown)
        mistake = Mistake(known.name, known.cost, known.belief)
        count = len(state) or len(broken)
        return Contract(mistake, Diagnosis(known.name, known.title, known.hint, count, total))

    def explain(self, report: ExerciseReport, files: Files, failures: Failures) -> ExerciseReport:
        """Add the lines of mistakes to a report, and names for failures the bank cannot explain."""
        failing = [r for r in failures.ran if r.report.verdict.failed]
        if not failing or any(r.fault for r in failures.ran):
            return report
        report = self._best_effort.run(
            f"{report.name}, counterexample",
            lambda: self._with_example(report, files, failures, failing),
            report,
        )
        names = report.diagnosis
        report = self._best_effort.run(
            f"{report.name}, line", lambda: self._located(report, files, failures), report
        )
        unexplained = [r for r in failing if r.report.name not in failures.explained]
        named_by_line = report.diagnosis not in (names, (edit_name(IGNORED),))
        attempted = any(r.report.verdict.attempted for r in failing)
        if named_by_line or 2 * len(unexplained) <= len(failing) or not attempted:
            return report
        return self._best_effort.run(
            f"{report.name}, symptom",
            lambda: self._with_symptoms(report, failures.ran, unexplained),
            report,
        )

    def _with_example(
        self, report: ExerciseReport, files: Files, failures: Failures, failing: Sequence[Ran]
    ) -> ExerciseReport:
        if self.examples is None or report.unwritten:
            return report
        failed = [r.report.name for r in failing]
        example = self.examples.find(files, report.name, failed, failures.inherited.replaced)
        return msgspec.structs.replace(report, counterexample=example)

    def _located(self, report: ExerciseReport, files: Files, failures: Failures) -> ExerciseReport:
        if self.finder is None:
            return report
        bank = {m.name for m in self._bank.of_exercise(report.name)}
        names = tuple(n for n in report.diagnosis if n in bank)  # not a broken contract
        places = self.finder.find(
            files, report.name, failures.ran, names, failures.inherited.replaced
        )
        report = msgspec.structs.replace(report, suspects=lines_of(places))
        if report.diagnosis:
            return report
        return _with_names(report, tuple(_names_by_kind(report, places)))

    def _with_symptoms(
        self, report: ExerciseReport, ran: Sequence[Ran], unexplained: Sequence[Ran]
    ) -> ExerciseReport:
        right = self._runs.right_answers(report.name)
        shown = by_symptom(unexplained, ran, right)
        names = (*report.explained, *(d for d in shown if d.name not in report.diagnosis))
        return _with_names(report, tuple(sorted(names, key=lambda d: d.is_minor)))


def _names_by_kind(report: ExerciseReport, places: Places) -> Iterator[Diagnosis]:
    """Yield a name for each kind of edit that fixes tests; none if several kinds each fix all."""
    alone = all(place.alone for place in places)
    kinds = {place.kind: place.explains for place in reversed(places)}
    failed = sum(t.verdict.failed and not t.carried for t in report.tests)
    for kind, explains in reversed(kinds.items()) if len(kinds) == 1 or not alone else ():
        if (name := edit_name(kind)) in FINDINGS:
            title, hint, _ = FINDINGS[name]
            total = failed if alone or explains else 0
            yield Diagnosis(name, title, hint, explains or total, total)


def _with_names(report: ExerciseReport, explained: tuple[Diagnosis, ...]) -> ExerciseReport:
    return msgspec.structs.replace(
        report, diagnosis=tuple(d.name for d in explained), explained=explained
    )
