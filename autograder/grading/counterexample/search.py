"""Search the smallest public input on which a program is wrong.

The hidden tests run on the solution with inputs that are drawn from a public seed, and their calls
are recorded. The program answers the same calls, up to a certainly wrong answer. These calls are
shrunk as long as the program is still wrong in the same way (`contest`). The submission sees only
public inputs, so neither its answers nor the text of the calls reveal the course's secret.
Before all this, the program answers the calls that show the known misconceptions (`small_inputs`).
"""

import time
from collections.abc import Callable, Collection
from contextlib import closing
from functools import cache, partial

from msgspec.structs import replace

from ...files import public_draw
from ...model.course import Counterexamples
from ...model.report.schema import in_low_precision
from ..localization.traced_runs import record, traced
from ..localization.traces import Traces, is_on_real_device
from ..outcomes import BestEffort
from ..running.test_runner import Files, Load, Runs
from ..targets.in_process import Target
from .call_cost import Calls, RecordedTest, cost, needs_hidden_code
from .call_sequence import Player, decoded
from .contest import ALTERNATIVES, Contest, Shown
from .small_inputs import read_inputs
from .wrong_value import WrongValue, first_wrong_value

_FEW_NUMBERS, _SHORT = 20, 400  # numbers and characters of stored calls


class CounterexampleSearch:
    """Searches counterexamples for the submissions of a week.

    runs:   the hidden tests and the bank
    load:   loads a submission in a sandbox, with correct versions of the named exercises
    traces: returns the recorded runs of an exercise
    budget: limits on the processor time
    """

    def __init__(
        self,
        runs: Runs,
        best_effort: BestEffort,
        load: Load,
        traces: Callable[[str], Traces],
        budget: Counterexamples,
    ) -> None:
        self._runs, self._best_effort = runs, best_effort
        self._load, self._traces, self._budget = load, traces, budget
        self._left = budget.submission
        self._inputs = read_inputs(runs.bank.folder)
        self._small_calls = cache(self._read_small_calls)
        self.recorded = cache(self._record)
        self.right_programs = cache(self._open_right_programs)
        self._misconception = cache(self._open_misconception)
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
        lines: Collection[int] = (),
    ) -> Shown | None:
        """Return a counterexample with its calls, or None if none is found.

        failed:  names of failed tests; only their calls are made. () makes the calls of all tests
        helpers: other exercises that are replaced by correct versions
        named:   the misconception that the example should show if possible; "" if none is known
        kinds:   the kinds of difference that it should show otherwise, as in `Counterexample`
        lines:   the lines that are known to contain the mistake; () if none is known
        """
        seconds = min(self._budget.seconds, self._left)
        if seconds <= 0:
            return None
        right, small = self.right_programs(exercise), self._small_calls(exercise)

        def load(some: Files) -> Target:
            return self._load(some, helpers)

        contest = Contest(self._runs, right, load, files, exercise, seconds)
        with closing(contest.version):
            shown = contest.first_wrong(small, self._misconception(exercise, named), kinds)
            if shown is None:
                began = time.thread_time()
                tests = [t for t in self.recorded(exercise) if not failed or t.name in failed]
                contest.version.exclude(time.thread_time() - began)
                shown = contest.smallest(tests, bool(failed))
            if shown is not None:
                add = partial(self._with_wrong_value, shown, contest, files, exercise, lines)
                shown = self._best_effort.run(f"{exercise}, wrong value", add, shown)
            self._left -= contest.version.seconds()
        return shown

    def _with_wrong_value(
        self, shown: Shown, contest: Contest, files: Files, exercise: str, lines: Collection[int]
    ) -> Shown:
        """Add the first wrong value that the program computes, if two runs agree on it.

        Its line is left out if the mistake is located elsewhere (`lines`).
        """

        def replay(target: Target, exercise: str) -> None:
            Player(target, exercise, self._runs.bank.public_modules).play(shown.calls)

        traces = self._traces(exercise)
        before = traces.own_seconds
        right = traces.right_values(replay)
        contest.version.exclude(traces.own_seconds - before)
        program = traced(self._runs.source(files), exercise, self._runs.foreign(files))
        if program is None or right is None:
            return shown
        traced_files = {**files, self._runs.week.module: program.source.encode()}
        found = set[WrongValue | None]()
        for _ in range(2):
            run = record(program, contest.restarted(traced_files), replay)
            if run is None:
                return shown
            found.add(first_wrong_value(right.compared(run), right, min(lines, default=0)))
        value = found.pop()
        if value is None or found:
            return shown
        example, names_line = shown.example, not lines or value.line in lines
        text = value.sentence(example.expected, example.actual, names_line)
        line = value.line if names_line else 0
        return shown._replace(example=replace(example, line=line, wrong_value=text))

    def _read_small_calls(self, exercise: str) -> list[RecordedTest]:
        """Return the stored calls of an exercise that the solution answers, the smallest first.

        Calls to code of the hidden tests are last.
        """
        solution, found = self.right_programs(exercise)[0], []
        for stored in self._inputs.get(exercise, ()):
            calls = solution.filled(stored)
            answers = solution.play(calls)
            if len(answers) == len(calls):
                found.append(RecordedTest("", calls, answers))
        return sorted(found, key=lambda test: needs_hidden_code(test.calls))  # stable

    def inputs_of_bank(self, exercise: str) -> dict[str, Calls]:
        """Return the smallest calls that show the misconceptions of an exercise, by their text.

        Only misconceptions that no stored call shows are searched. No call is to hidden code.
        """
        stored = self._inputs.get(exercise, [])
        self._inputs[exercise] = [calls for calls in stored if not needs_hidden_code(calls)]
        bank = self._runs.bank.of_exercise(exercise)
        found = (self.find(self._runs.files(m.source), exercise, named=m.name) for m in bank)
        return {
            s.example.call: s.calls
            for s in found
            if s is not None and s.example.numbers <= _FEW_NUMBERS and len(s.example.call) <= _SHORT
        }

    def _record(self, exercise: str) -> list[RecordedTest]:
        """Return the tests of an exercise, the simplest first; real GPUs are left out."""
        secret = public_draw(f"{self._runs.week.name} {exercise} ")
        solution, found = self.right_programs(exercise)[0], []
        for name, steps in self._runs.recorded(exercise, secret).items():
            if steps and not is_on_real_device(name):
                calls = solution.filled(decoded(steps, self._runs.bank.public_modules))
                found.append(RecordedTest(name, calls, solution.play(calls)))
        return sorted(
            found, key=lambda t: (2 * ("fake" in t.name) + in_low_precision(t.name), cost(t.calls))
        )

    def _open_right_programs(self, exercise: str) -> list[Player]:
        """Return the solution, and alternatives that define the exercise in another way."""
        sources = self._runs.bank.correct_sources(exercise)[: 1 + ALTERNATIVES]
        named = ((f"-right-{exercise}-{n}", source) for n, source in enumerate(sources))
        return [self._player(exercise, *one) for one in named]

    def _open_misconception(self, exercise: str, name: str) -> Player | None:
        sources = (m.source for m in self._runs.bank.of_exercise(exercise) if m.name == name)
        return next((self._player(exercise, f"-wrong-{name}", source) for source in sources), None)

    def _player(self, exercise: str, name: str, source: str) -> Player:
        """Open one of the course's programs, until `close`."""
        target = self._runs.in_place(name, source).__enter__()
        self._players.append(Player(target, exercise, self._runs.bank.public_modules))
        return self._players[-1]

    def close(self) -> None:
        for player in self._players:
            player.target.close()
        self._players.clear()
        self.right_programs.cache_clear()
        self._misconception.cache_clear()
