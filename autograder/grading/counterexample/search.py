"""Search the smallest public input on which a program is wrong.

The hidden tests run on the solution with inputs that are drawn from a public seed, and their calls
are recorded. The program answers the same calls. The calls up to a certainly wrong answer are
shrunk, as long as the solution answers, all correct programs of the course agree with it, and the
program is still certainly wrong. What is shown is decoded and confirmed once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import torch

from ...files import hash_of, public_draw
from ...model.availability import AXES, CPU
from ...model.report.schema import axes_of, in_low_precision
from ...worker.protocol.messages import Effect
from ..comparator import is_array
from ..decoding import read_answer
from ..outcomes import Outcome
from ..running.test_runner import Files, Runs
from ..targets.in_process import Answer, Target
from ..targets.sandboxed import Sandboxed
from .answer_difference import AnswerDifference, SideBySide, difference
from .call_sequence import Player, decoded
from .notebook_cell import Script, Unwritable, distinct_arrays, float_inputs
from .shrinking import Calls, cost, needed, shrunk
from .value_text import array_text

_ALTERNATIVES = 6  # correct programs that must agree with the solution
_FEW_ALTERNATIVES = 1  # those that must agree with each step of the search
_WORK = ("work", "memory access")
_FIRST = 4  # differing tests to look at before shrinking
_FEW_NUMBERS = 4  # no other test is tried after a counterexample with as few numbers
_LATER = {"gradient": 1, "exception": 1, "argument": 1, "effect": 2, "device": 2, "detached": 2,
          "message": 2, "memory access": 2, "forbidden": 2, "work": 4, "stopped": 4}  # fmt: skip


class Counterexample(msgspec.Struct, frozen=True):
    """A small input on which a program is wrong.

    call:     the calls, as Python; the last line is the expression whose value differs
    expected: its value in the solution
    actual:   its value in the program
    cell:     a complete notebook cell that makes the calls
    kind:     what differs, such as "value", "gradient" or "exception"
    numbers:  how many numbers `call` contains
    """

    call: str
    expected: str
    actual: str
    cell: str
    kind: str
    numbers: int


@dataclass(frozen=True)
class Finding:
    """Calls whose last answer is wrong."""

    calls: Calls
    found: AnswerDifference
    right: Answer
    mine: Answer | Outcome

    @property
    def rank(self) -> tuple[float, ...]:
        return (_LATER.get(self.found.kind, 0), *cost(self.calls))


class CounterexampleSearch:
    """Searches counterexamples for the submissions of a week, and remembers them.

    load: loads a submission's files in a sandbox, with correct versions of the named exercises
    seconds: the processor time for one search
    """

    def __init__(
        self,
        runs: Runs,
        load: Callable[[Files, Collection[str]], Target],
        seconds: float = 1.0,
    ) -> None:
        self._runs, self._load, self._seconds = runs, load, seconds
        self._known: dict[bytes, Counterexample | None] = {}
        self._recorded: dict[tuple[str, bytes], list[tuple[str, Calls, list[Any]]]] = {}
        self._right: dict[str, list[Player]] = {}

    def find(
        self,
        files: Mapping[str, bytes],
        exercise: str,
        failed: Collection[str] = (),
        helpers: Collection[str] = (),
        seed: str = "",
    ) -> Counterexample | None:
        """Return a counterexample for a wrong exercise, or None if none is found.

        failed:  names of failed tests, whose calls are tried first
        helpers: other exercises that are replaced by correct versions
        seed:    a public name, from which the inputs are drawn
        """
        content = (part for n in sorted(files) for part in (n.encode(), files[n]))
        key = hash_of((exercise.encode(), seed.encode(), ",".join(helpers).encode(), *content))
        if key not in self._known:
            with closing(self._load(files, helpers)) as target:
                contest = Contest(self, target, exercise, self._seconds)
                self._known[key] = contest.result(self.recorded(exercise, seed), failed)
        return self._known[key]

    def recorded(self, exercise: str, seed: str) -> list[tuple[str, Calls, list[Any]]]:
        """Return the calls of each hidden test with public inputs, and the solution's answers."""
        secret = public_draw(f"{self._runs.week.name} {exercise} {seed}")
        if (exercise, secret) not in self._recorded:
            found = []
            for test, steps in self._runs.recorded(exercise, secret).items():
                axes = axes_of(test).split("-")
                if not _REAL_DEVICES.isdisjoint(axes) or not steps:
                    continue
                calls = decoded(steps)
                keys = {s.key for s in calls}
                rights = [a for n, (_, a) in enumerate(steps) if n in keys]
                if any(s.fill for s in calls):
                    solution = self.right_programs(exercise)[0]
                    calls = solution.filled(calls)
                    rights = solution.play(calls)
                found.append((test, calls, rights))
            found.sort(key=lambda one: (_axes_rank(one[0]), cost(one[1])))
            self._recorded[exercise, secret] = found
        return self._recorded[exercise, secret]

    def right_programs(self, exercise: str) -> list[Player]:
        """Return the solution, and alternatives that define the exercise in another way."""
        if exercise not in self._right:
            bank = self._runs.bank
            heads = tuple(f"{word} {exercise}" for word in ("def", "class"))
            own = {
                name: source
                for name, source in bank.alternatives.items()
                if any(head in source[len(bank.solution) :] for head in heads)
            }
            chosen = [("-solution", bank.solution), *list(own.items())[:_ALTERNATIVES]]
            targets = (self._runs.in_place(name, source).__enter__() for name, source in chosen)
            self._right[exercise] = [Player(target, exercise) for target in targets]
        return self._right[exercise]

    def prepare(self, exercise: str, seed: str = "") -> None:
        """Do the work that all submissions share."""
        self.right_programs(exercise)
        self.recorded(exercise, seed)

    @property
    def runs(self) -> Runs:
        return self._runs

    def close(self) -> None:
        for players in self._right.values():
            for player in players:
                player.target.close()
        self._right.clear()


_REAL_DEVICES = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}


def _axes_rank(test: str) -> int:
    return 2 * ("fake" in test) + (in_low_precision(test) or "half" in test)


class Contest:
    """Compares one program with the correct programs."""

    def __init__(
        self, search: CounterexampleSearch, target: Target, exercise: str, seconds: float
    ) -> None:
        self._search, self._exercise, self._seconds = search, exercise, seconds
        self._target = target
        self._mine = Player(target, exercise)
        self._began = time.thread_time()
        self._strictly = False

    def result(
        self, recorded: list[tuple[str, Calls, list[Any]]], failed: Collection[str]
    ) -> Counterexample | None:
        self._began = time.thread_time()
        tests = [one for one in recorded if one[0] in failed] or recorded
        found = self._first_findings(tests)
        if not found:
            self._strictly = True
            found = self._first_findings(tests)
        best: tuple[int, Counterexample] | None = None
        for number, finding in enumerate(sorted(found, key=lambda f: f.rank)):
            share = (number + 1) / len(found) if best is None else 1.0
            shown = None
            for most in (_FEW_ALTERNATIVES, _ALTERNATIVES):
                small = self._shrunk(finding, share, most)
                if self._is_agreed(small):
                    shown = self._shown(small)
                    break
            shown = shown or self._shown(finding)
            if shown is not None and (best is None or shown.numbers < best[0]):
                best = shown.numbers, shown
            if best is not None and (best[0] <= _FEW_NUMBERS or self._spent_share() > 0.6):
                break
        return best[1] if best is not None else None

    def _spent_share(self) -> float:
        inside = self._target.clocks.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return (time.thread_time() - self._began + inside) / self._seconds

    # Comparing

    def _first_findings(self, tests: list[tuple[str, Calls, list[Any]]]) -> list[Finding]:
        found: list[Finding] = []
        for _, calls, rights in tests:
            finding = self._judged(calls, rights, None)
            if finding is not None and self._is_agreed(finding):
                found.append(finding)
            good = sum(_LATER.get(f.found.kind, 0) < 2 for f in found)
            if good >= _FIRST or (found and self._spent_share() > 0.3):
                break
        return found

    def _judged(
        self, calls: Calls, rights: list[Any], kind: str | None
    ) -> Finding | None:
        """Return the calls up to the first wrong answer, if it is wrong in this way."""
        mines = self._played(calls)
        for number, (right, mine) in enumerate(zip(rights, mines, strict=False)):
            if not isinstance(right, tuple):
                return None
            makes = calls[number].options.construct
            found = difference(right, mine, makes, self._strictly)
            if found is not None:
                same = kind in (None, found.kind)
                return Finding(calls[: number + 1], found, right, mine) if same else None
        return None

    def _played(self, calls: Calls) -> list[Answer | Outcome]:
        if isinstance(self._target, Sandboxed):
            self._target.deaths.clear()
        return self._mine.play(calls)

    def compared(self, calls: Calls, kind: str, raising: frozenset[Any]) -> Finding | None:
        """Compare the answers to calls that were changed; None if they do not differ for certain.

        raising: the keys of the calls that the solution may refuse, each with the exception's type
        """
        solution = self._search.right_programs(self._exercise)[0]
        calls = solution.filled(calls)
        rights = solution.play(calls)
        if len(rights) < len(calls):
            return None
        for step, right in zip(calls, rights, strict=True):
            assert isinstance(right, tuple)
            reply = right[0]
            if reply.raised is not None and (step.key, reply.raised.type) not in raising:
                return None
            if reply.status not in ("ok", "raised") or _has_nan(right):
                return None
        return self._judged(calls, rights, kind)

    def _is_agreed(self, finding: Finding, most: int = _ALTERNATIVES) -> bool:
        """Return True if the correct programs give the same answers, but for work not shown."""
        solution, *others = self._search.right_programs(self._exercise)
        rights = solution.play(finding.calls)
        work = finding.found.path if finding.found.kind in _WORK else ()
        for other in others[:most]:
            answers = other.play(finding.calls)
            if len(answers) < len(rights):
                return False
            for step, right, answer in zip(finding.calls, rights, answers, strict=True):
                assert isinstance(right, tuple)
                makes = step.options.construct
                if difference(right, answer, makes, self._strictly, work) is not None:
                    return False
        return True

    def _shrunk(self, finding: Finding, share: float, most: int) -> Finding:
        best = finding
        raising = _raising(self._search.right_programs(self._exercise)[0], finding.calls)

        def accept(calls: Calls) -> Calls | None:
            nonlocal best
            try:
                new = self.compared(calls, finding.found.kind, raising)
            except Exception:  # a changed call may be impossible to encode
                return None
            if new is None or cost(new.calls) >= cost(best.calls) or not self._is_agreed(new, most):
                return None
            best = new
            return new.calls

        accept(needed(finding.calls))
        shrunk(best.calls, accept, lambda: self._spent_share() > 0.9 * share)
        return best

    # Showing

    def _shown(self, finding: Finding) -> Counterexample | None:
        """Write a finding, and compare the answers to the arguments as they are written."""
        runs = self._search.runs
        signatures = runs.plugin.signatures
        try:
            read = tuple(s.mapped(_as_written) for s in finding.calls)
            raising = _raising(self._search.right_programs(self._exercise)[0], finding.calls)
            again = self.compared(read, finding.found.kind, raising)
            if again is None:
                return None
            is_random = self._is_random(again.calls)
            script = Script(again.calls, again.found, runs.week.module, signatures, is_random)
            path = script.path_of_last
            sides = SideBySide(script.inputs_of_last, signatures.result(path, "The result"))
            expected, actual = sides.texts(again.found, again.right, again.mine)
        except (Unwritable, SyntaxError, TypeError, ValueError, RuntimeError):
            return None
        return Counterexample(
            script.call, expected, actual, script.cell, again.found.kind, script.numbers
        )


    def _is_random(self, calls: Calls) -> bool:
        """Return True if a call draws random numbers, except for weights that are replaced."""
        for step, answer in zip(calls, self._played(calls), strict=False):
            if isinstance(answer, tuple) and step.fill is None and not step.state:
                if any(e.effect is Effect.TORCH_RANDOM for e in answer[0].side_effects):
                    return True
        return False


def _raising(solution: Player, calls: Calls) -> frozenset[Any]:
    rights = solution.play(calls)
    return frozenset(
        (step.key, right[0].raised.type)
        for step, right in zip(calls, rights, strict=False)
        if isinstance(right, tuple) and right[0].raised is not None
    )


def _has_nan(answer: Answer) -> bool:
    value, gradients = read_answer(answer)
    return any(_is_nan(v) for v in (value, *gradients))


def _is_nan(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_nan, value))
    if isinstance(value, torch.Tensor):
        return not value.is_meta and bool(torch.isnan(value).any())
    return is_array(value) and value.dtype.kind == "f" and bool(np.isnan(value).any())


def _as_written(value: Any) -> Any:
    """Return the value of an array's text."""
    if not is_array(value):
        return value
    import math

    return eval(array_text(value), {"torch": torch, "np": np, "math": math})
