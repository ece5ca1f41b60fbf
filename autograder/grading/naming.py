"""Name the mistakes in an exercise, using three sources.

1. Misconceptions in the bank that produce the same outputs as the submission
   (`diagnosis.match_bank`).
2. Small edits: if a single edit of the student's code makes failed tests pass, the kind of the edit
   names the mistake (`localization`).
3. Symptoms: properties of wrong outputs, and of exceptions (`diagnosis.symptoms`).

If a single edit makes all tests pass, the exercise is charged for one mistake: the misconception
that explains most failures, or the kind of the edit. Otherwise, edits name a mistake only if no
misconception matches, and are charged instead of the tests that they fix. Symptoms name a mistake
only if most failures are unexplained, and change no points, except for the symptom of parameters
that do not load.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median, mode

import msgspec

from ..model.report.findings import FINDINGS, IGNORED, WHATEVER, edit_name, symptom_name
from ..model.report.schema import Diagnosis, Suspect, TestReport, Verdict, base_of
from ..model.report.scoring import COST_OF_STATE, Evidence, Mistake
from ..repair import parameters, required_parameters, unread_parameters
from .counterexample import CounterexampleSearch
from .diagnosis.match_bank import Named, diagnose
from .diagnosis.symptoms import by_symptom
from .localization.localizer import LineFinder, Places, lines_of
from .outcomes import BestEffort, Flaw
from .running.pytest_plugin import Ran
from .running.test_runner import Files, Runs
from .triviality.answer_contents import has_outputs

_EDIT_COSTS = 0.1, 0.4  # least and largest cost of a mistake that only an edit names
_SIMILAR = 0.9  # share of common failures with a misconception, relative to the largest share
# The kinds of counterexamples that show a flaw. None: an exception.
_KINDS: dict[Flaw | None, tuple[str, ...]] = {
    None: ("exception",),
    Flaw.VALUE: ("value", "text"),
    Flaw.KIND: ("type", "shape", "dtype"),
    Flaw.GRADIENT: ("gradient",),
    Flaw.DETACHED: ("detached",),
    Flaw.EFFECT: ("argument", "effect"),
    Flaw.DEVICE: ("device",),
    Flaw.STATE: ("state",),
    Flaw.DRAWN: ("drawing",),
    Flaw.REFUSAL: ("refusal", "message"),
}
Contract = tuple[Mistake, Diagnosis]  # a way in which an exercise breaks its contract
_KINDS_OF_SYMPTOMS = {
    symptom_name("shape"): ("shape",),
    symptom_name("number type"): ("dtype",),
    symptom_name("kind"): ("type",),
}


class MistakeNames:
    """Names the mistakes in a week's submissions.

    finder:   locates lines, or None
    examples: searches counterexamples, or None
    """

    def __init__(self, runs: Runs, best_effort: BestEffort) -> None:
        self._runs, self._bank, self._best_effort = runs, runs.bank, best_effort
        self.finder: LineFinder | None = None
        self.examples: CounterexampleSearch | None = None
        # The mistakes of this submission on known lines, because exercises may share functions.
        self._by_line = dict[str, tuple[Mistake, Diagnosis]]()

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
        mine = required & unread_parameters(self._runs.source(files), exercise)
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

    def contracts(
        self, exercise: str, ran: Sequence[Ran], again: Mapping[str, Ran], files: Files
    ) -> list[Contract]:
        """Name the broken contracts: tests end differently in the run `again`, which meets them."""
        known = {m.name: m for m in self._bank.of_exercise(exercise) if m.cost is not None}
        bank, contracts = self._runs.of_misconceptions(exercise), list[Contract]()
        flaws = {name: set(map(_flaw_of, runs)) for name, runs in bank.items()}
        count = sum(r.report.verdict.failed for r in ran)
        changed = [r for r in ran if _flaw_of(r) is not _flaw_of(again.get(r.report.name, r))]
        for flaw in (None, Flaw.STATE, Flaw.KIND):
            tests = [r for r in changed if _flaw_of(r) is flaw]
            names = (n.name for r in (ran, tests) for n in self.misconceptions(exercise, r, files))
            named = (known[n] for n in names if n in known and flaw in flaws[n])
            one = next(named, None) if flaw else self._bank.adapters.get(exercise)
            if one and tests:
                mostly = len(tests) < len(bank.get(one.name, ()))
                shown = Diagnosis(one.name, one.title, one.hint, len(tests), count, mostly)
                contracts.append((Mistake(one.name, one.cost, one.belief), shown))
            elif flaw and (symptoms := by_symptom(tests, ran, self._runs.right_answers(exercise))):
                cost = COST_OF_STATE if flaw is Flaw.STATE else self._typical_cost(exercise, tests)
                contracts.append((Mistake(symptoms[0].name, cost), symptoms[0]))
        return contracts

    def begin(self) -> None:
        """Start a new submission with its full time budgets."""
        self._by_line.clear()
        for search in (self.finder, self.examples):
            if search is not None:
                search.begin()

    def explain(
        self, evidence: Evidence, files: Files, ran: Sequence[Ran], replaced: tuple[str, ...]
    ) -> Evidence:
        """Add the lines of mistakes, and names for failures that the bank cannot explain.

        If one edit makes all tests pass, the evidence is reduced to this one mistake.

        ran: the results of the tests, without inherited failures
        replaced: the helpers that were replaced by correct ones while the tests ran
        """
        name = evidence.exercise.name
        failing = [r for r in ran if r.report.verdict.failed]
        if not failing or any(r.fault for r in ran):
            return evidence
        locate = partial(self._located, evidence, files, ran, failing, replaced)
        located = self._best_effort.run(f"{name}, line", locate, evidence)
        if not any(r.report.verdict.attempted for r in failing):
            return located
        unexplained = [r for r in failing if r.report.name not in located.explained]
        named_by_edit = located.names not in (evidence.names, (edit_name(IGNORED),))
        if not named_by_edit and 2 * len(unexplained) > len(failing):
            symptoms = self._best_effort.run(
                f"{name}, symptom",
                lambda: by_symptom(unexplained, ran, self._runs.right_answers(name)),
                tuple[Diagnosis, ...](),
            )
            new = (d for d in symptoms if d.name not in located.names)
            found = sorted((*located.diagnoses, *new), key=lambda d: (d.is_minor, -d.explains))
            located = replace(located, diagnoses=tuple(found))
        choose = partial(self._headline, name, located.diagnoses, failing)
        headline = self._best_effort.run(f"{name}, headline", choose, "")
        return self._with_example(replace(located, headline=headline), files, failing, replaced)

    def _with_example(
        self, evidence: Evidence, files: Files, failing: Sequence[Ran], replaced: tuple[str, ...]
    ) -> Evidence:
        """Add a counterexample of the mistake that is named first.

        The lines that hidden tests locate are more certain than the line at which one small call
        goes wrong. That line counts only to choose among several edits.
        """
        if (search := self.examples) is None:
            return evidence
        name, failed = evidence.exercise.name, [r.report.name for r in failing]
        main = next((d.name for d in evidence.diagnoses[:1] if not d.is_minor), "")
        kinds = _KINDS_OF_SYMPTOMS.get(main) or _usual_kinds(failing)
        lines = [s.line for s in evidence.suspects]
        shown = self._best_effort.run(
            f"{name}, counterexample",
            lambda: search.find(files, name, failed, replaced, main, kinds, lines),
            None,
        )
        if shown is None:
            return evidence
        example, suspects = shown.example, evidence.suspects
        if lines and example.line not in (0, *lines):  # it raises an exception elsewhere
            example = msgspec.structs.replace(example, line=0, wrong_value="")
        elif example.line and all(map(_fixes_all, suspects)):
            suspects = tuple(s for s in suspects if s.line == example.line)
        return replace(evidence, suspects=suspects, counterexample=example)

    def _located(
        self,
        evidence: Evidence,
        files: Files,
        ran: Sequence[Ran],
        failing: Sequence[Ran],
        replaced: tuple[str, ...],
    ) -> Evidence:
        if self.finder is None:
            return evidence
        name = evidence.exercise.name
        explained = all(r.report.name in evidence.explained for r in failing)
        bank = {m.name for m in self._bank.of_exercise(name)}
        names = tuple(n for n in evidence.names if n in bank)  # not a broken contract
        places = self.finder.find(files, name, ran, names, replaced, explained)
        located = replace(evidence, suspects=lines_of(places), computed=self.finder.computed)
        if places and all(map(_fixes_all, places)):
            located = self._with_one_mistake(located, failing)
        if len(located.mistakes) == len(located.suspects) == 1 and located.suspects[0].alone:
            line = f"{located.suspects[0].file}:{located.suspects[0].line}"
            mistake = replace(located.mistakes[0], line=line)
            if not located.diagnoses[0].is_minor:
                self._by_line.setdefault(line, (mistake, located.diagnoses[0]))
            located = replace(located, mistakes=(mistake,))
        if located.diagnoses:
            return located
        named = tuple(_names_by_kind(places, len(failing)))
        if named and self.finder.fixed:
            located = self._with_edits(located, named, failing, self.finder.fixed)
        return replace(located, diagnoses=named or self._ignored_arguments(name, files, failing))

    def _with_edits(
        self,
        evidence: Evidence,
        named: Sequence[Diagnosis],
        failing: Sequence[Ran],
        fixed: frozenset[str],
    ) -> Evidence:
        """Charge the mistakes that edits fix in some tests, instead of the weight of these tests.

        The rest of the work is correct as far as these tests show, because they pass with an edit.
        """
        tests = [r for r in failing if r.report.name in fixed]
        cost = self._typical_cost(evidence.exercise.name, tests, evidence.tests)
        return replace(
            evidence,
            mistakes=tuple(Mistake(d.name, cost) for d in named),
            explained=fixed,
            has_outputs=has_outputs(tests),
        )

    def _with_one_mistake(self, evidence: Evidence, failing: Sequence[Ran]) -> Evidence:
        """Name and price the only mistake of an exercise, which an edit of one line fixes.

        An edit without a misconception gets the name of a mistake on the same line in an earlier
        exercise, or costs as much as a typical misconception (`_typical_cost`).
        """
        places = evidence.suspects
        known = self._by_line.get(f"{places[0].file}:{places[0].line}")
        diagnosis = max(evidence.diagnoses, key=lambda d: d.explains, default=None)
        if diagnosis is not None and not diagnosis.is_minor:
            (mistake,) = (m for m in evidence.mistakes if m.name == diagnosis.name)
        elif known is not None and len(places) == 1:
            mistake, diagnosis = known
        else:
            kinds = {p.kind for p in places}
            diagnosis = _diagnosis(places[0].kind if len(kinds) == 1 else WHATEVER)
            cost = self._typical_cost(evidence.exercise.name, failing, evidence.tests)
            mistake = Mistake(diagnosis.name, cost)
        count = len(failing)
        written = (r.report for r in failing if r.report.verdict is not Verdict.UNWRITTEN)
        return replace(
            evidence,
            mistakes=(replace(mistake, shows_work=True),),
            diagnoses=(msgspec.structs.replace(diagnosis, explains=count, of=count, mostly=False),),
            explained=frozenset(report.name for report in written),
            fitted=frozenset(),
        )

    def _typical_cost(
        self, exercise: str, failing: Sequence[Ran], tests: Iterable[TestReport] = ()
    ) -> float:
        """Return the median cost of the misconceptions that fail almost the same tests.

        If there are none, use all misconceptions of the exercise, but at most the failed share of
        the weights of `tests`, within `_EDIT_COSTS`. If all values are correct, return the upper
        limit, because then a point such as memory is missed.
        """
        costs = {m.name: m.cost for m in self._bank.of_exercise(exercise) if m.cost is not None}
        similar = [costs[name] for name in self._similar(exercise, failing) if name in costs]
        if similar:
            return median(similar)
        least, most = _EDIT_COSTS
        if all(r.flaw is Flaw.CLAIM and not r.report.verdict.raised for r in failing):
            return most
        total = sum(t.weight for t in tests if t.verdict.counted)
        share = sum(r.report.weight for r in failing) / total if total else 1.0
        return max(min(median(costs.values() or [most]), share, most), least)

    def _ignored_arguments(
        self, exercise: str, files: Files, failing: Sequence[Ran]
    ) -> tuple[Diagnosis, ...]:
        """Name the arguments that the solution reads and the submission never does."""
        verdicts = [r.report.verdict for r in failing]
        if Verdict.UNWRITTEN in verdicts or any(v.breaks_a_rule for v in verdicts):
            return ()
        solution = self._bank.solution
        read = parameters(solution, exercise) - unread_parameters(solution, exercise)
        unread = read & unread_parameters(self._runs.source(files), exercise)
        if not unread or unread == read:  # an empty exercise reads none
            return ()
        title, hint, _ = FINDINGS[edit_name(IGNORED)]
        names = " and ".join(f"`{name}`" for name in sorted(unread))
        return (Diagnosis(edit_name(IGNORED), title.format(names=names), hint),)

    def _headline(self, exercise: str, named: Iterable[Diagnosis], failing: Sequence[Ran]) -> str:
        """Return the failed test whose claim describes the mistake best; "" if it is the first.

        This is the test that the bank states for the named misconception or, if none is named, for
        most of the misconceptions that fail almost the same tests.
        """
        rejected_by = {m.name: m.rejected_by for m in self._bank.of_exercise(exercise)}
        known = [d.name for d in named if not d.is_minor and d.name in rejected_by][:1]
        votes = Counter(rejected_by[n] for n in known or self._similar(exercise, failing))
        best = max(failing, key=lambda r: votes[base_of(r.report.name).rpartition("::")[2]])
        return best.report.name if best is not failing[0] else ""

    def _similar(self, exercise: str, failing: Sequence[Ran]) -> list[str]:
        mine, shares = {r.report.name for r in failing}, dict[str, float]()
        for name, runs in self._runs.of_misconceptions(exercise).items():
            theirs = {r.report.name for r in runs}
            shares[name] = len(mine & theirs) / len(mine | theirs)
        least = max(0.5, _SIMILAR * max(shares.values(), default=0.0))
        return [name for name, share in shares.items() if share >= least]


def _fixes_all(place: Suspect) -> bool:
    """Return True if an edit at a place makes all failed tests pass."""
    return place.alone and not place.explains and edit_name(place.kind) in FINDINGS


def _flaw_of(ran: Ran) -> Flaw | None:
    return None if ran.report.verdict.raised else ran.flaw


def _usual_kinds(failing: Iterable[Ran]) -> tuple[str, ...]:
    """Return the kinds of counterexamples that show the flaw of most failed tests."""
    return _KINDS.get(mode(map(_flaw_of, failing)), ())


def _names_by_kind(places: Places, failed: int) -> Iterator[Diagnosis]:
    """Yield a name for each kind of edit that fixes some of the `failed` tests."""
    kinds = {place.kind: place.explains for place in reversed(places)}
    for kind, explains in reversed(kinds.items()):
        if kind != WHATEVER and edit_name(kind) in FINDINGS:
            yield _diagnosis(kind, explains, failed if explains else 0)


def _diagnosis(kind: str, explains: int = 0, of: int = 0) -> Diagnosis:
    title, hint, _ = FINDINGS[edit_name(kind)]
    return Diagnosis(edit_name(kind), title, hint, explains, of)
