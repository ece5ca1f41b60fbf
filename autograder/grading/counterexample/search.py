"""Search the smallest public input on which a program is wrong.

The hidden tests run on the solution with inputs that are drawn from a public seed, and their calls
are recorded. The program answers the same calls, up to a certainly wrong answer. These calls are
shrunk as long as the program is still wrong in the same way (`contest`). The submission sees only
public inputs, so neither its answers nor the text of the calls reveal the course's secret.
Before all this, the program answers the calls that show the known misconceptions (`small_inputs`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from functools import partial

from msgspec.structs import replace

from ...files import public_draw
from ...model.availability import AXES, CPU
from ...model.course import Counterexamples
from ...model.report.schema import Counterexample, axes_of, in_low_precision
from ...repair import UNPARSABLE, shared_definitions
from ...repair.instrumentation import TracedProgram, trace_program
from ..outcomes import BestEffort
from ..running.test_runner import Files, Runs
from ..targets.in_process import Target
from .call_cost import Calls, RecordedTest, cost, needs_hidden_code
from .call_sequence import Player, decoded
from .contest import ALTERNATIVES, Contest, Shown
from .small_inputs import read_inputs
from .wrong_value import first_wrong_value, record_run

_FEW_NUMBERS, _SHORT = 12, 400  # numbers and characters of stored calls
_REAL_DEVICES = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}


class CounterexampleSearch:
    """Searches counterexamples for the submissions of a week.

    runs:    the hidden tests and the bank
    load:    loads a submission in a sandbox, with correct versions of the named exercises
    budget:  limits on the processor time
    """

    def __init__(
        self,
        runs: Runs,
        best_effort: BestEffort,
        load: Callable[[Files, Collection[str]], Target],
        budget: Counterexamples,
    ) -> None:
        self._runs, self._best_effort, self._load, self._budget = runs, best_effort, load, budget
        self._left = budget.submission
        self._inputs = read_inputs(runs.bank.folder)
        self._small: dict[str, list[RecordedTest]] = {}
        self._recorded: dict[str, list[RecordedTest]] = {}
        self._right: dict[str, list[Player]] = {}
        self._traced: dict[str, list[tuple[TracedProgram, Player]]] = {}
        self._misconceptions: dict[str, Player | None] = {}
        self._players: list[Player] = []

    def begin(self) -> None:
        """Start a new submission with its full time budget."""
        self._left = self._budget.submission

    def find(
        self,
        files: Files,
        exercise: str,
        failed: Collection[str] = (),
        helpers: Collection[str] = (),
        named: str = "",
        kinds: Collection[str] = (),
    ) -> Counterexample | None:
        """Return a counterexample for a wrong exercise, or None if none is found.

        The arguments are those of `find_calls`.
        """
        shown = self.find_calls(files, exercise, failed, helpers, named, kinds)
        return None if shown is None else shown.example

    def find_calls(
        self,
        files: Files,
        exercise: str,
        failed: Collection[str] = (),
        helpers: Collection[str] = (),
        named: str = "",
        kinds: Collection[str] = (),
    ) -> Shown | None:
        """Return a counterexample with its calls, or None if none is found.

        failed:  names of failed tests; only their calls are made. () makes the calls of all tests
        helpers: other exercises that are replaced by correct versions
        named:   the misconception that the example should show if possible; "" if none is known
        kinds:   the kinds of difference that it should show otherwise, as in `Counterexample`
        """
        seconds = min(self._budget.seconds, self._left)
        if seconds <= 0:
            return None
        right, small = self.right_programs(exercise), self._small_calls(exercise)

        def load(some: Files) -> Target:
            return self._load(some, helpers)

        with closing(Contest(self._runs, right, load, files, exercise, seconds)) as contest:
            shown = contest.first_wrong(small, self._misconception(exercise, named), kinds)
            if shown is None:
                began = time.thread_time()
                tests = [t for t in self.recorded(exercise) if not failed or t.name in failed]
                contest.exclude(time.thread_time() - began)
                shown = contest.smallest(tests, bool(failed))
            if shown is not None:
                add = partial(self._with_wrong_value, shown, contest, files, exercise)
                shown = self._best_effort.run(f"{exercise}, wrong value", add, shown)
            self._left -= contest.spent_seconds()
        return shown

    def _with_wrong_value(
        self, shown: Shown, contest: Contest, files: Files, exercise: str
    ) -> Shown:
        """Add the first wrong value that the program computes, if two runs agree on it."""
        began = time.thread_time()
        traced = (
            record_run(program, player, exercise, shown.calls)
            for program, player in self._traced_programs(exercise)
        )
        rights = [one for one in traced if one is not None]
        contest.exclude(time.thread_time() - began)
        module = self._runs.week.module
        program = trace(
            "\n".join(self._runs.lines(files)), exercise, self._foreign(files, exercise)
        )
        if program is None or not rights:
            return shown
        found = []
        for _ in range(2):
            player = contest.restarted({**files, module: program.source.encode()})
            mine = record_run(program, player, exercise, shown.calls)
            found.append(None if mine is None else first_wrong_value(exercise, mine, rights))
        value = found[0]
        if value is None or found != [value, value]:
            return shown
        example = shown.example
        text = value.sentence(example.expected, example.actual)
        return shown._replace(example=replace(example, line=value.line, wrong_value=text))

    def _foreign(self, files: Files, exercise: str) -> frozenset[str]:
        """Return the names of other exercises, and of definitions that the solution has too."""
        source = "\n".join(self._runs.lines(files))
        shared = shared_definitions(source, self._runs.bank.solution)
        return shared.union(e.name for e in self._runs.week.exercises) - {exercise}

    def _small_calls(self, exercise: str) -> list[RecordedTest]:
        """Return the stored calls of an exercise that the solution answers, the smallest first.

        Calls to code of the hidden tests are last.
        """
        if exercise not in self._small:
            solution, found = self.right_programs(exercise)[0], []
            for stored in self._inputs.get(exercise, ()):
                calls = solution.filled(stored)
                answers = solution.play(calls)
                if len(answers) == len(calls):
                    found.append(RecordedTest("", calls, answers))
            found.sort(key=lambda test: needs_hidden_code(test.calls))  # stable
            self._small[exercise] = found
        return self._small[exercise]

    def inputs_of_bank(self, exercise: str) -> dict[str, Calls]:
        """Return the smallest calls that show the misconceptions of an exercise, by their text.

        Each misconception is searched, without the stored calls.
        """
        self._small[exercise] = []
        shown = (
            self.find_calls(self._runs.files(m.source), exercise)
            for m in self._runs.bank.of_exercise(exercise)
        )
        return {
            s.example.call: s.calls
            for s in shown
            if s is not None and s.example.numbers <= _FEW_NUMBERS and len(s.example.call) <= _SHORT
        }

    def recorded(self, exercise: str) -> list[RecordedTest]:
        """Return the tests of an exercise, the simplest first; real GPUs are left out."""
        if exercise not in self._recorded:
            secret = public_draw(f"{self._runs.week.name} {exercise} ")
            solution, found = self.right_programs(exercise)[0], []
            for name, steps in self._runs.recorded(exercise, secret).items():
                if steps and _REAL_DEVICES.isdisjoint(axes_of(name).split("-")):
                    calls = solution.filled(decoded(steps))
                    found.append(RecordedTest(name, calls, solution.play(calls)))
            found.sort(
                key=lambda t: (2 * ("fake" in t.name) + in_low_precision(t.name), cost(t.calls))
            )
            self._recorded[exercise] = found
        return self._recorded[exercise]

    def right_programs(self, exercise: str) -> list[Player]:
        """Return the solution, and alternatives that define the exercise in another way."""
        if exercise not in self._right:
            sources = self._runs.bank.correct_sources(exercise)[: 1 + ALTERNATIVES]
            named = ((f"-right-{exercise}-{n}", source) for n, source in enumerate(sources))
            self._right[exercise] = [self._player(exercise, *one) for one in named]
        return self._right[exercise]

    def _traced_programs(self, exercise: str) -> list[tuple[TracedProgram, Player]]:
        if exercise not in self._traced:
            sources = self._runs.bank.correct_sources(exercise)[: 1 + ALTERNATIVES]
            traced = (trace(source, exercise) for source in sources)
            self._traced[exercise] = [
                (one, self._player(exercise, f"-traced-{exercise}-{n}", one.source))
                for n, one in enumerate(traced)
                if one is not None
            ]
        return self._traced[exercise]

    def _misconception(self, exercise: str, name: str) -> Player | None:
        if name not in self._misconceptions:
            sources = (m.source for m in self._runs.bank.of_exercise(exercise) if m.name == name)
            players = (self._player(exercise, f"-wrong-{name}", source) for source in sources)
            self._misconceptions[name] = next(players, None)
        return self._misconceptions[name]

    def _player(self, exercise: str, name: str, source: str) -> Player:
        """Open one of the course's programs, until `close`."""
        self._players.append(Player(self._runs.in_place(name, source).__enter__(), exercise))
        return self._players[-1]

    def close(self) -> None:
        for player in self._players:
            player.target.close()
        self._players.clear()
        self._right.clear()
        self._traced.clear()
        self._misconceptions.clear()


def trace(
    source: str, exercise: str, foreign: frozenset[str] = frozenset()
) -> TracedProgram | None:
    """Instrument a program for an exercise; return None if it cannot be parsed."""
    with suppress(*UNPARSABLE):
        return trace_program(source, exercise, foreign)
    return None
