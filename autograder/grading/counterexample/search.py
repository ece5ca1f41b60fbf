"""Search the smallest public input on which a program is wrong.

The hidden tests run on the solution with inputs that are drawn from a public seed, and their calls
are recorded. The program answers the same calls, up to a certainly wrong answer. These calls are
shrunk as long as the program is still wrong in the same way (`contest`). The submission sees only
public inputs, so neither its answers nor the text of the calls reveal the course's secret.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing
from functools import partial

from ...files import hash_of, public_draw
from ...model.availability import AXES, CPU
from ...model.report.schema import axes_of, in_low_precision
from ..running.test_runner import Files, Runs
from ..targets.in_process import Target
from .call_cost import cost
from .call_sequence import Player, decoded
from .contest import ALTERNATIVES, Contest, Counterexample, RecordedTest

_REAL_DEVICES = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}


class CounterexampleSearch:
    """Searches counterexamples for the submissions of a week, and remembers them.

    runs:    the hidden tests and the bank
    load:    loads a submission in a sandbox, with correct versions of the named exercises
    seconds: the processor time for a search
    """

    def __init__(
        self, runs: Runs, load: Callable[[Files, Collection[str]], Target], seconds: float
    ) -> None:
        self._runs, self._load, self._seconds = runs, load, seconds
        self._known: dict[bytes, Counterexample | None] = {}
        self._recorded: dict[tuple[str, bytes], list[RecordedTest]] = {}
        self._right: dict[str, list[Player]] = {}

    def find(
        self,
        files: Files,
        exercise: str,
        failed: Collection[str] = (),
        helpers: Collection[str] = (),
        seed: str = "",
    ) -> Counterexample | None:
        """Return a counterexample for a wrong exercise, or None if none is found.

        failed:  names of failed tests; only their calls are made. () makes the calls of all tests
        helpers: other exercises that are replaced by correct versions
        seed:    a public name from which the inputs are drawn, such as the student's
        """
        content = (part for name in sorted(files) for part in (name.encode(), files[name]))
        names = (exercise, seed, *sorted(helpers), "", *sorted(failed))
        key = hash_of((*map(str.encode, names), *content))
        if key not in self._known:
            tests = [t for t in self.recorded(exercise, seed) if not failed or t.name in failed]
            right, load = self.right_programs(exercise), partial(self._load, files, helpers)
            with closing(Contest(self._runs, right, load, exercise, self._seconds)) as contest:
                self._known[key] = contest.result(tests, bool(failed))
        return self._known[key]

    def recorded(self, exercise: str, seed: str = "") -> list[RecordedTest]:
        """Return the tests of an exercise, the simplest first; real GPUs are left out."""
        secret = public_draw(f"{self._runs.week.name} {exercise} {seed}")
        if (exercise, secret) not in self._recorded:
            solution, found = self.right_programs(exercise)[0], []
            for name, steps in self._runs.recorded(exercise, secret).items():
                if steps and _REAL_DEVICES.isdisjoint(axes_of(name).split("-")):
                    calls = solution.filled(decoded(steps))
                    found.append(RecordedTest(name, calls, solution.play(calls)))
            found.sort(
                key=lambda t: (2 * ("fake" in t.name) + in_low_precision(t.name), cost(t.calls))
            )
            self._recorded[exercise, secret] = found
        return self._recorded[exercise, secret]

    def right_programs(self, exercise: str) -> list[Player]:
        """Return the solution, and alternatives that define the exercise in another way."""
        if exercise not in self._right:
            bank = self._runs.bank
            heads, start = (f"def {exercise}(", f"class {exercise}("), len(bank.solution)
            others = [
                (name, source)
                for name, source in bank.alternatives.items()
                if any(head in source[start:] for head in heads)
            ]
            chosen = [("-solution", bank.solution), *others[:ALTERNATIVES]]
            targets = [self._runs.in_place(*one).__enter__() for one in chosen]
            self._right[exercise] = [Player(target, exercise) for target in targets]
        return self._right[exercise]

    def close(self) -> None:
        for player in (p for players in self._right.values() for p in players):
            player.target.close()
        self._right.clear()
