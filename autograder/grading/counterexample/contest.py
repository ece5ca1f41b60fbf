"""Compare a program with the correct programs, and shrink the calls that it answers wrongly.

Only `_played` runs the submission. Its answers are compared with the solution's. A difference is
shown only if the other correct programs of the bank give the solution's answers, because otherwise
it is a matter of style. What is shown is confirmed after the program is loaded again, with the
arrays that its text makes.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import torch

from ...model.report.schema import Counterexample
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer
from ...worker.protocol.messages import Effect
from ...worker.protocol.values import read_answer
from ..comparator import as_tensor, is_array
from ..outcomes import Outcome
from ..running.test_runner import Files, Runs
from ..targets.in_process import Target
from ..targets.sandboxed import Reloaded, Sandboxed
from .answer_difference import WORK, AnswerDifference, Sides, difference, is_style, side_by_side
from .array_sizes import of_length_one
from .call_cost import Calls, RecordedTest, WrongCalls, cost, is_too_long
from .call_sequence import AFTER_CALL, Player, leaves_of
from .notebook_cell import Script, Unwritable, path_of
from .shrinking import as_written, needed, shrunk, with_values
from .value_text import result_text

ALTERNATIVES = 6  # correct programs that must agree with the solution
_FIRST = 4  # tests with a difference to look at before shrinking
_FEW_NUMBERS = 4  # no other test is tried after a counterexample with as few numbers
_FIRST_SHARE, _SHRINKING_SHARE, _LAST_SHARE = 0.3, 0.85, 0.6  # of the time, when steps end
_PACE = 0.04  # of the time, for calls that are slower than those before
_LEAST_SHARE = 0.2  # of the time, to shrink calls after a slow first step
_NO_PART = AnswerDifference("")  # of answers before the wrong one
# Errors in writing calls whose arguments have no text, or answers that are malformed.
_UNWRITABLE = (Unwritable, SyntaxError, TypeError, ValueError, RuntimeError, IndexError, KeyError,
               frames.BadFrame)  # fmt: skip


class Shown(NamedTuple):
    """A confirmed counterexample and its calls."""

    example: Counterexample
    calls: Calls


class Contest:
    """Compares one program with the correct programs. `version`: the loaded program."""

    def __init__(
        self,
        runs: Runs,
        right: Sequence[Player],
        load: Callable[[Files], Target],
        files: Files,
        exercise: str,
        seconds: float,
    ) -> None:
        self._runs, self._files, self._seconds = runs, files, seconds
        self._solution, *self._others = right
        self.version, self._exercise = Reloaded(load), exercise
        self._strictly = self._remembers = False
        self._plays = 0  # sequences of calls since the program was loaded
        self.restarted()

    def restarted(self, files: Files | None = None) -> Target:
        """Load the program, or other files, so that it remembers no earlier call."""
        self._plays = 0
        target, public = self.version.load(files or self._files), self._runs.bank.public_modules
        self._mine = Player(target, self._exercise, public)
        return self._mine.target

    def first_wrong(
        self, small: Sequence[RecordedTest], named: Player | None, kinds: Collection[str]
    ) -> Shown | None:
        """Return the first of these calls that shows the main mistake, else any mistake, or None.

        named: a program with the mistake that is named first; None if no mistake is named. A call
               shows the mistake if both programs answer alike
        kinds: the kinds of difference in most failed tests, which decide if no call shows it
        """
        found: tuple[list[WrongCalls], list[WrongCalls]] = [], []
        for test in small:
            finding = self._judged(test.calls, test.answers)
            if finding is None or not self._is_agreed(finding):
                continue
            is_usual = finding.found.kind in kinds
            if self._answers_alike(named, finding) if named is not None else is_usual:
                if (shown := self._shown(finding)) is not None:
                    return shown
            else:
                found[not is_usual].append(finding)
        return next(filter(None, map(self._shown, (*found[0], *found[1]))), None)

    def _answers_alike(self, named: Player, finding: WrongCalls) -> bool:
        answers = named.play(finding.calls)
        theirs = answers[-1] if len(answers) == len(finding.calls) else None
        if not isinstance(theirs, tuple) or not isinstance(finding.mine, tuple):
            return False
        return difference(theirs, finding.mine, strictly=self._strictly) is None

    def smallest(self, tests: list[RecordedTest], all_failed: bool) -> Shown | None:
        """Return the smallest counterexample that is found within the time.

        all_failed: whether the program is known to fail all of these tests. Otherwise, differences
                    that may be rounding errors are ignored
        """
        found = self._first_answers(tests)
        if not found and all_failed:
            self._strictly = True
            found = self._first_answers(tests)
        best: Shown | None = None
        for number, finding in enumerate(sorted(found, key=lambda f: f.rank)):
            share = 1.0 if best is not None else (number + 1) / len(found)
            shown = self._shown(self._shrunk(finding, share))
            if shown is None and not self._remembers:
                # Earlier calls may have changed the program's state, so each call needs a new one.
                self._remembers = True
                shown = self._shown(self._shrunk(finding, share))
            shown = shown or self._shown(finding)
            if shown and (best is None or shown.example.numbers < best.example.numbers):
                best = shown
            enough = best is not None and best.example.numbers <= _FEW_NUMBERS
            if enough or (best is not None and self._spent_share() > _LAST_SHARE):
                break
        return best

    def _spent_share(self) -> float:
        return self.version.seconds() / self._seconds

    # Comparing

    def _first_answers(self, tests: list[RecordedTest]) -> list[WrongCalls]:
        found: list[WrongCalls] = []
        for test in tests:
            finding = self._judged(test.calls, test.answers)
            if finding is not None and self._is_agreed(finding):
                found.append(finding)
            enough = sum(f.rank[0] < 2 for f in found) >= _FIRST
            if enough or (found and self._spent_share() > _FIRST_SHARE):
                break
        return found

    def _judged(self, calls: Calls, rights: list[Any]) -> WrongCalls | None:
        """Return the calls up to the program's first wrong answer, or None if there is none.

        A wrong message counts only if no other answer is wrong, because messages differ in style.
        """
        message: WrongCalls | None = None
        refused = dict[int, str]()
        for number, (right, mine) in enumerate(zip(rights, self._played(calls), strict=False)):
            if not isinstance(right, tuple):
                break
            step = calls[number]
            if right[0].raised is not None:
                refused[step.key] = right[0].raised.type
            found = difference(right, mine, step.options.construct, self._strictly)
            wrong = found and WrongCalls(calls[: number + 1], found, right, mine, refused)
            if wrong and wrong.found.kind != "message":
                return wrong
            message = message or wrong
        return message

    def _played(self, calls: Calls) -> list[Answer | Outcome]:
        if self._remembers:
            self.restarted()
        if isinstance(self._mine.target, Sandboxed):
            self._mine.target.deaths.clear()  # otherwise two stopped calls would end the search
        self._plays += 1
        return self._mine.play(calls)

    def _compared(self, calls: Calls, like: WrongCalls) -> WrongCalls | None:
        """Compare the answers to other calls; return None if they do not differ in the same way."""
        calls = self._solution.filled(calls)
        rights = self._solution.play(calls)
        for step, right in zip(calls, rights, strict=False):
            assert isinstance(right, tuple)
            raised = right[0].raised
            if raised is not None and raised.type != like.refused.get(step.key):
                return None
            if right[0].status not in ("ok", "raised") or _has_nan(right):
                return None
        finding = self._judged(calls, rights)
        return finding if finding is not None and finding.found.kind == like.found.kind else None

    def _is_agreed(self, finding: WrongCalls, most: int = ALTERNATIVES) -> bool:
        """Return True if correct programs give the solution's answers, up to style.

        A message is wrong if it differs from the messages of all correct programs.
        """
        rights = self._solution.play(finding.calls)
        work = finding.found.path if finding.found.kind in WORK else ()
        for other in self._others[:most]:
            answers = other.play(finding.calls)
            if len(answers) < len(rights):
                return False
            for step, right, answer in zip(finding.calls, rights, answers, strict=True):
                assert isinstance(right, tuple)
                found = difference(right, answer, step.options.construct, self._strictly, work)
                is_last = step is finding.calls[-1]
                wrong = finding.found if is_last else _NO_PART
                if found and not is_style(found, answer, wrong, right, finding.mine):
                    return False
            last, is_message = answers[-1], finding.found.kind == "message"
            if is_message and isinstance(last, tuple) and not difference(last, finding.mine):
                return False
        return True

    def _shrunk(self, finding: WrongCalls, share: float) -> WrongCalls:
        """Return a smaller finding on which the correct programs agree.

        Only one correct program is asked at first. If others disagree, the search continues with
        all of them from the smallest calls on which they agree.
        """
        trail, start = [finding], self._spent_share()
        allowed = max(_SHRINKING_SHARE * share - start, _LEAST_SHARE)
        pace = 1.0

        def accept(most: int, calls: Calls) -> Calls | None:
            nonlocal pace
            with suppress(Exception):  # a changed call may be impossible to encode or to answer
                began = self._spent_share()
                new = self._compared(calls, finding)
                took = self._spent_share() - began
                simpler = new is not None and cost(new.calls) < cost(trail[-1].calls)
                if took > pace:  # smaller blocks take more steps, which would take all of the time
                    return None
                if new is not None and simpler and self._is_agreed(new, most):
                    pace = max(took, _PACE)
                    trail.append(new)
                    return new.calls
            return None

        if len(fewer := needed(finding.calls)) < len(finding.calls):
            accept(1, fewer)
        accept(1, of_length_one(trail[-1].calls))  # saves many steps if it succeeds
        if finding.found.kind in WORK or is_too_long(trail[-1].calls):
            # Plain values are shown in any number and leave time for sizes.
            for plainer in with_values(trail[-1].calls):
                if accept(1, plainer) is not None:
                    break
        for most in (1, ALTERNATIVES):
            shrunk(
                trail[-1].calls,
                partial(accept, most),
                lambda: (self._spent_share() - start) / allowed,
            )
            if self._is_agreed(trail[-1]):
                break
            while len(trail) > 1 and not self._is_agreed(trail[-1]):
                # The first calls are agreed, and asking all programs about others takes time.
                trail = trail[:-1] if self._spent_share() < 1.0 else trail[:1]
        return trail[-1]

    # Showing

    def _shown(self, finding: WrongCalls) -> Shown | None:
        """Write a finding, after the reloaded program gets the arrays that its text makes."""
        if is_too_long(finding.calls):
            return None
        if self._plays > 1:
            self.restarted()
        with suppress(*_UNWRITABLE):
            again = self._compared(as_written(finding.calls), finding)
            if again is None:
                return None
            signatures, last = self._runs.plugin.signatures, again.calls[-1]
            path = path_of(last, {s.key: s for s in again.calls})
            parts = signatures.result(path, "The result")
            sides = side_by_side(again.found, again.right, again.mine, parts)
            if again.found.kind == "argument":
                sides = self._changed(again) or sides
            module, is_random = self._runs.week.module, self._is_random(again.calls)
            script = Script(
                again.calls, again.found, sides, signatures, module, is_random, again.refused
            )
            raised = again.mine[0].raised if isinstance(again.mine, tuple) else None
            line = (raised.line if raised is not None else None) or 0
            example = Counterexample(
                line=line,
                wrong_value=f"Line {line} raises this exception." if line else "",
                call=script.call,
                expected=sides.expected,
                actual=sides.actual,
                numbers=script.numbers,
                kind=again.found.kind,
                cell=script.cell,
            )
            return Shown(example, again.calls)
        return None

    def _changed(self, finding: WrongCalls) -> Sides | None:
        """Return the values before and after the call of the array that the call changes."""
        last = finding.calls[-1]
        answers = self._played((*finding.calls[:-1], last.bringing(AFTER_CALL, "arguments_after")))
        if len(answers) < len(finding.calls) or not isinstance(answers[-1], tuple):
            return None
        (effect,) = finding.found.path
        in_numpy = effect.effect is Effect.ARRAY
        after = [x for x in leaves_of(read_answer(answers[-1])[0]) if is_array(x)]
        pairs = [
            (x, y)
            for x, y in zip(last.arrays, after, strict=False)
            if isinstance(x, torch.Tensor) != in_numpy
        ]
        x, y = pairs[effect.argument - 1]
        return Sides(result_text(x.detach() if not in_numpy else x, 3), result_text(y, 3))

    def _is_random(self, calls: Calls) -> bool:
        """Return True if a call draws random numbers, except for weights that are replaced."""
        return any(
            isinstance(answer, tuple)
            and any(e.effect is Effect.TORCH_RANDOM for e in answer[0].side_effects)
            for step, answer in zip(calls, self._played(calls), strict=False)
            if step.fill is None and not step.state
        )


def _has_nan(answer: Answer) -> bool:
    arrays = (as_tensor(x) for x in leaves_of(read_answer(answer)) if is_array(x))
    return any(x.is_floating_point() and not x.is_meta and bool(x.isnan().any()) for x in arrays)
