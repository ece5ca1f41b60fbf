"""Error carried forward: an exercise keeps its points if its only fault is in a helper.

If a student's `softmax` is wrong, a correct attention function that calls `softmax` fails its
tests. Therefore, the tests of a failing exercise run again with correct helpers in place of the
wrong helpers (`reference_stubs`). If a failed test now passes, the failure is inherited, because
the mistake is in a helper. If a test still fails, the exercise itself contains a mistake.

* The calls in the student's program, not in the solution, decide which helpers an exercise has. A
  helper that calls the exercise, in the student's program or in the solution, is never replaced.
  Otherwise, two unfinished exercises could be completed from each other.
* If the lines of a helper break a source rule, only the helper is penalised. Callers run with a
  correct helper. The wrong helper runs separately to check whether it is a genuine attempt.
* Only a genuine attempt is replaced: the student's helper earned points, or its outputs match a
  misconception or resemble the correct outputs (`Judge`). A constant, a wrong type or code that
  only crashes is not a genuine attempt. A helper that is unwritten or does not terminate is not an
  attempt either. If neither the solution nor an alternative calls the helper in this exercise, the
  helper must be nearly correct. Otherwise, an exercise could leave its work to a correct helper.
* A test that failed and now passes earns credit only if it called a correct helper. If the results
  of the two runs differ for any other reason, the test earns nothing.
* A student's helper may accept arguments that the correct helper lacks or refuses. If a rerun fails
  after a call with these arguments, its result is discarded, because the call may be the cause. The
  failure is then inherited if the submitted answer takes work and its values have the same order as
  the correct ones, and if the test made no forbidden call. But if a misconception crashes in the
  same way in a call that the submitted run never reached, the mistake is in the exercise itself.
* A correct helper that is a class answers calls only: a rerun that crashes in another method of the
  student's class is discarded in the same way.
* A correct helper is not called with an object, such as a cache. A test that then fails differently
  inherits its failure if the solution with the helper's named misconception gives the same answers.
* The exercise earns the points of the run with correct helpers, or of the run as submitted if that
  run passes more tests and earns more points (`Judge`). The better tests of the two runs are never
  combined, because a helper that ignores `causal` would hide half of its caller's mistakes.
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import CodeType, FunctionType
from typing import NamedTuple, Self

from ...model.course.bank import Misconception
from ...model.report.schema import Verdict
from ...model.source.reachable import parse_bounded
from ...repair import foreign_lines
from ..diagnosis.equivalence import same_failure, same_reason
from ..running.pytest_plugin import Ran, exercise_of
from ..running.test_runner import Runs
from ..targets.in_process import Target
from ..triviality.answer_contents import resembling_tests
from .reference_stubs import AnswerCounts, ReferenceHelpers, Solution, TimeBudget


@dataclass(frozen=True)
class Inherited:
    """The failures that an exercise inherits from wrong helpers.

    helpers: the helpers whose mistakes the exercise inherits
    credit: by test, the share that each inherited failure earns before `Scoring.carried` applies
    rerun: by test, the failed reruns, whose results replace the submitted ones
    replaced: the helpers that were replaced by correct versions
    """

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)
    rerun: Mapping[str, Ran] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()


class CalledHelpers(NamedTuple):
    """The helpers that an exercise calls.

    own: the helpers that the student's program calls
    usual: the helpers that the solution or an alternative calls
    """

    own: frozenset[str]
    usual: frozenset[str]

    def replaceable(self, attempts: Mapping[str, bool]) -> set[str]:
        """Return the wrong helpers that may be replaced by correct versions.

        attempts: the wrong helpers that are genuine attempts, and whether each is nearly correct
        """
        return {
            helper
            for helper, nearly_right in attempts.items()
            if helper in self.own and (nearly_right or helper in self.usual)
        }


@dataclass
class CarriedForward:
    """Runs a week's exercises again with correct helpers.

    seconds, call_seconds: the processor time for the helpers of one submission and for one call
    load: loads a submission whose calls to some helpers are answered by the solution
    """

    runs: Runs
    seconds: float
    call_seconds: float
    load: Callable[[Mapping[str, bytes], ReferenceHelpers], Target]
    _left: TimeBudget = field(default_factory=lambda: TimeBudget(0.0))

    @cached_property
    def _exercises(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.runs.week.exercises)

    @cached_property
    def _solution(self) -> Solution:
        return Solution(self.runs.written("-helpers", self.runs.bank.solution))

    @cached_property
    def _called_by_tests(self) -> dict[str, frozenset[str]]:
        """For each exercise, the other exercises that its tests call."""
        found: dict[str, frozenset[str]] = {}
        for item in self.runs.items:
            exercise = exercise_of(item)
            called = named_in(item.function, self._exercises) - {exercise}
            found[exercise] = found.get(exercise, frozenset()) | called
        return found

    @cached_property
    def _in_solution(self) -> dict[str, frozenset[str]]:
        return self._reached(self.runs.bank.solution)

    @cached_property
    def _usual(self) -> dict[str, frozenset[str]]:
        """For each exercise, the exercises that it reaches in the solution or an alternative."""
        others = [self._reached(s) for s in self.runs.bank.alternatives.values()]
        return {e: found.union(*(o[e] for o in others)) for e, found in self._in_solution.items()}

    def _reached(self, source: str) -> dict[str, frozenset[str]]:
        """Map each exercise to the exercises that it or its tests call, directly or indirectly."""
        calls = read_call_graph(source, self._exercises).with_calls(self._called_by_tests)
        return {e: calls.reached(e) for e in self._exercises}

    def begin(self, source: str) -> dict[str, CalledHelpers]:
        """Reset the time budget for a submission; return each exercise's helpers, callees first."""
        self._left = TimeBudget(self.seconds, self.call_seconds)
        reached, solution = self._reached(source), self._in_solution
        return {
            e: CalledHelpers(
                frozenset(h for h in reached[e] if e not in reached[h] | solution[h]),
                self._usual[e],
            )
            for e in sorted(self._exercises, key=lambda e: len(reached[e]))
        }

    def helpers(self, names: Iterable[str]) -> ReferenceHelpers:
        """Return correct versions of these exercises."""
        return ReferenceHelpers(self._solution, names, self._left)

    def inherited(
        self,
        runs: Collection[Ran],
        wrong: Collection[str],
        files: Mapping[str, bytes],
        named: Collection[str],
    ) -> Inherited:
        """Rerun an exercise's tests with correct helpers, and return the inherited failures.

        runs:  the results of the exercise's tests as submitted
        wrong: the helpers to replace
        named: the misconceptions found in the submission's exercises
        """
        helpers = self.helpers(e for e in self._exercises if e in wrong)
        if not helpers.stubs or not any(r.report.verdict.attempted for r in runs):
            return Inherited()
        before = {r.report.name: r for r in runs if r.report.verdict.can_change}
        exercise = next(iter(before.values())).exercise if before else ""
        counts_of = dict[str, AnswerCounts]()

        def count(ran: Ran) -> None:
            counts_of[ran.report.name] = helpers.take_counts()

        with closing(self.load(files, helpers)) as target:
            after = self.runs.run(
                target,
                files,
                exercise,
                tests=before.keys(),
                replaced=helpers.names,
                on_result=count,
            )
        credit, rerun, doubtful = dict[str, float](), dict[str, Ran](), list[Ran]()
        foreign = foreign_lines(self.runs.source(files), exercise, frozenset(helpers.names))
        for ran in after:
            name, counts = ran.report.name, counts_of[ran.report.name]
            first = before[name].report.verdict
            if ran.report.verdict.failed and (
                ran.report.line in foreign or self._is_doubtful(counts, before[name], ran)
            ):
                doubtful.extend([before[name]] if first.rejects_answers else [])
            elif ran.report.verdict.failed:
                # If a call was refused, the refusal may have caused the failure.
                if first is Verdict.PASS or (counts.answers and not counts.refusals):
                    rerun[name] = ran
            elif ran.report.verdict is Verdict.PASS and first.failed and counts.answers:
                credit[name] = 1.0
        settled = credit.keys() | rerun.keys()
        settled |= {r.report.name for r in after if same_failure(before[r.report.name], r)}
        left = {n: r for n, r in before.items() if r.report.verdict.failed and n not in settled}
        for one in (m for h in helpers.names for m in self.runs.bank.of_exercise(h)):
            if left and one.name in named:
                credit.update(dict.fromkeys(self._same_with(one, exercise, left), 1.0))
        if doubtful:
            recorded = self.runs.recorded(exercise)
            resembling = resembling_tests(doubtful, recorded, needs_work=True)
            credit.update(dict.fromkeys(resembling, 1.0))
        return Inherited(helpers.names if credit else (), credit, rerun, helpers.names)

    def _same_with(
        self, misconception: Misconception, exercise: str, failed: Mapping[str, Ran]
    ) -> list[str]:
        """Return the failed tests in which a misconception's program gives the same answers."""
        files, right = self.runs.files(misconception.source), self.runs.right_answers(exercise)
        with self.runs.in_place(misconception.name, misconception.source) as target:
            others = self.runs.run(target, files, exercise, tests=failed.keys())
        wrong = {r.report.name: r for r in others if r.report.verdict is not Verdict.PASS}
        return [n for n, r in wrong.items() if same_failure(failed[n], r, right.get(n, ()))]

    def _is_doubtful(self, counts: AnswerCounts, submitted: Ran, ran: Ran) -> bool:
        """Return True if a rerun may fail only because the correct helper accepts fewer arguments.

        A crash is the exercise's own mistake if the submitted run stopped before that call and a
        misconception in the bank crashes in the same way. A test that was stopped because its code
        breaks a rule is never doubtful, because that code may have produced the submitted answer.
        """
        first = submitted.report.verdict
        refused = counts.raised and not first.raised and ran.report.verdict.raised
        if refused and len(submitted.answers) < len(ran.answers):
            known = (r for runs in self.runs.of_misconceptions(ran.exercise).values() for r in runs)
            same_test = (r for r in known if r.report.name == ran.report.name)
            refused = not any(same_reason(ran, r) for r in same_test)
        return not first.breaks_a_rule and bool(counts.dropped or refused)


def has_own_failures(runs: Iterable[Ran], inherited: Inherited) -> bool:
    """Return True if an exercise has failures that it does not inherit."""
    return any(r.report.verdict.failed and r.report.name not in inherited.credit for r in runs)


def terminates(runs: Collection[Ran]) -> bool:
    """Return True if an exercise was attempted and no limit or invalid reply ended a test."""
    verdicts = [r.report.verdict for r in runs]
    return any(v.attempted for v in verdicts) and not any(v.exceeds_a_bound for v in verdicts)


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class CallGraph:
    """The exercises that each exercise calls directly."""

    calls: Mapping[str, frozenset[str]]

    def reached(self, exercise: str) -> frozenset[str]:
        """Return the exercises that an exercise calls, directly or indirectly, except itself."""
        waiting, seen = [exercise], set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += self.calls.get(name, ())
        return frozenset(seen) - {exercise}

    def with_calls(self, more: Mapping[str, frozenset[str]]) -> Self:
        """Return a copy of the graph with additional calls, such as the calls of hidden tests."""
        calls = {e: self.calls.get(e, frozenset()) | found for e, found in more.items()}
        return replace(self, calls={**self.calls, **calls})


def read_call_graph(source: str, exercises: Collection[str]) -> CallGraph:
    """Read the calls in a module; return an empty graph if the source is invalid or too long.

    For each exercise, the time is linear in the length of the source, because every statement is
    read at most once, even if it assigns to thousands of names.
    """
    tree = parse_bounded(source)
    everything = frozenset(exercises)
    uses: list[frozenset[str]] = []  # the names in each defining statement
    defined_by: dict[str, list[int]] = {}
    for names, node in _definitions(tree.body if tree is not None else ()):
        for name in names:
            defined_by.setdefault(name, []).append(len(uses))
        uses.append(frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))

    def called(exercise: str) -> frozenset[str]:
        # Follow the names that an exercise uses, but do not enter the code of other exercises.
        waiting, read, found = [exercise], set[int](), set[str]()
        while waiting:
            for statement in set(defined_by.get(waiting.pop(), ())) - read:
                read.add(statement)
                waiting += (uses[statement] - found) - everything
                found |= uses[statement]
        return everything & found - {exercise}

    return CallGraph({e: called(e) & defined_by.keys() for e in exercises if e in defined_by})


def named_in(function: FunctionType, exercises: Collection[str]) -> frozenset[str]:
    """Return the exercises whose names occur in a test or in a function that the test uses."""
    waiting, seen, found = [function], set[FunctionType](), set[str]()
    while waiting:
        current = waiting.pop()
        seen.add(current)
        names = set(_names_in_code(current.__code__))
        found |= names & set(exercises)
        called = (current.__globals__.get(n) for n in names)
        waiting += [f for f in called if isinstance(f, FunctionType) and f not in seen]
    return frozenset(found)


def _names_in_code(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in_code(constant)
        elif isinstance(constant, str):
            yield constant.split(".")[0]


def _definitions(body: Iterable[ast.AST]) -> Iterator[tuple[set[str], Definition]]:
    """Yield the names and node of each module-level definition, even inside compound statements."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield {node.name}, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield {target.id for target in targets if isinstance(target, ast.Name)}, node
        else:
            inner = (ast.stmt, ast.ExceptHandler, ast.match_case)
            yield from _definitions(n for n in ast.iter_child_nodes(node) if isinstance(n, inner))
