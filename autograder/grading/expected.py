"""What right code answers with a student's helpers, kept for all helpers that answer alike.

Theory of operation. Right code is a function of what its helpers answer. So where a helper gives,
in a process of its own and in an order that nobody foresees, bit by bit the answers that another
submission's helper gave to the same questions, what right code makes of them is known, and so are
the properties that cannot hold with it. Only helpers that have answered alike in two processes are
kept for others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..model.verdicts import Verdict
from .asked import HelperQuestions
from .carrying import Carrying, RightSides, raised_in
from .lender import Lender
from .room import Room
from .targets import InProcess, RecordedTarget, split_reply
from .transcript import Transcript

_MOST_BYTES = 32 << 20
_MOST_ALIKE = 8  # helpers that answer differently, of each exercise and the tests it fails


@dataclass(frozen=True)
class Expected:
    """What right code answers in some tests.

    reference, precise: its answers, in the dtype of the test and in float64
    unmet: by test that it passes, the numbers of the properties that cannot hold with the helpers
    stopped: by test in which it could not go on, the exception
    transcripts: what the helpers were asked and answered
    """

    questions: HelperQuestions
    transcripts: list[Transcript]
    reference: dict[bytes, bytes] = field(default_factory=dict)
    precise: dict[bytes, bytes] = field(default_factory=dict)
    unmet: dict[str, frozenset[int]] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)

    def sides(self, carrying: Carrying) -> RightSides:
        """To be compared with; what was not asked so far, a process of the student's is asked."""
        lender = carrying.lender(self.questions)
        reference, precise = (
            RecordedTarget(carrying.with_helpers(lender), dict(answers))
            for answers in (self.reference, self.precise)
        )
        return RightSides(reference, precise)

    @property
    def size(self) -> int:
        answers = (*self.reference.values(), *self.precise.values())
        return self.questions.size + sum(map(len, answers))


def _own_answers(carrying: Carrying) -> dict[str, dict[bytes, bytes]]:
    """By test, what right code answers with its own helpers."""
    found, answers = dict[str, dict[bytes, bytes]](), dict[bytes, bytes]()
    reference, precise, right = (
        RecordedTarget(InProcess(carrying.program.path), known) for known in (answers, {}, answers)
    )
    sides = RightSides(reference, precise)
    try:
        for item in carrying.items:
            before = len(answers)
            carrying.run_right(item, right, sides, None)
            found[carrying.plugin.name(item)] = dict(islice(answers.items(), before, None))
        return found
    finally:
        sides.close()
        right.close()


def _left_of(carrying: Carrying, known: Collection[str]) -> list[Any]:
    return [item for item in carrying.items if carrying.plugin.name(item) not in known]


def _says(answer: bytes | None) -> tuple[Any, ...]:
    if answer is None:
        return ()
    reply, buffers = split_reply(answer)
    return reply.status, reply.value, reply.gradients, *map(bytes, buffers)


class KnownExpectations:
    """Of a week, what right code answers with the helpers of a class.

    asked: how often right code had to be run
    """

    def __init__(self) -> None:
        self.asked = 0
        self._known: dict[Hashable, list[Expected]] = {}
        # by program and test: a class fails the same ones in ever other sets
        self._own: dict[Path, dict[str, dict[bytes, bytes]]] = {}
        self._room = Room(_MOST_BYTES)
        self._found: deque[tuple[Hashable, Expected, int]] = deque()  # in order

    def of(self, carrying: Carrying) -> Expected | None:
        """What right code answers with these helpers; None if they answer as they like."""
        facts = (
            carrying.exercise,
            carrying.lent,
            carrying.program.path,
            carrying.names,
            carrying.paid,
            carrying.stand_in,
        )
        if carrying.stands_in and (same_text := self._known.get(facts)):
            return same_text[0]
        questions = HelperQuestions()
        lender = carrying.lender(questions)
        try:
            for known in self._known.get(facts, ()):
                if carrying.of(lender, known.questions.same):
                    return known
            self.asked += 1
            found = _asked(carrying, lender, questions)
        finally:
            lender.close()
        if found is not None and found.questions.agreed:
            self._keep(facts, found)
        return found

    def unchanged(self, found: Expected, carrying: Carrying) -> frozenset[str]:
        """The tests in which right code answers with these helpers as it does with its own.

        What such a helper gets wrong shows only between several of its calls, or objects.
        """
        own = self._own.setdefault(carrying.program.path, {})
        own |= _own_answers(replace(carrying, items=_left_of(carrying, own)))
        return frozenset(
            test
            for test in carrying.names
            if all(_says(found.reference.get(key)) == _says(a) for key, a in own[test].items())
        )

    def _keep(self, facts: Hashable, found: Expected) -> None:
        """Keep what was found; what was found first makes room for it."""
        size = found.size
        if len(self._known.get(facts, ())) >= _MOST_ALIKE or size > _MOST_BYTES:
            return
        while not self._room.take(size):
            first, oldest, its_size = self._found.popleft()
            left = [one for one in self._known.pop(first) if one is not oldest]
            if left:
                self._known[first] = left
            self._room.give(its_size)
        self._known.setdefault(facts, []).append(found)
        self._found.append((facts, found, size))


def _asked(carrying: Carrying, lender: Lender, questions: HelperQuestions) -> Expected | None:
    found = Expected(questions, [lender.transcript])
    reference, precise, right = (
        RecordedTarget(carrying.with_helpers(lender), answers)
        for answers in (found.reference, found.precise, found.reference)
    )
    sides = RightSides(reference, precise)
    try:
        for item in carrying.items:
            if carrying.patience.over:
                questions.give_up()
                break
            ran, unmet = carrying.run_right(item, right, sides, None)
            if ran.report.verdict is Verdict.WRONG:
                return None  # the same program twice: the helper answers as it likes
            if ran.report.verdict is Verdict.PASS:
                found.unmet[ran.report.name] = unmet
            # some tests ask the code in the student's place first, or that alone
            raised = raised_in(ran)
            if stopped := ran.stopped or (raised.type if raised else ""):
                found.stopped[ran.report.name] = stopped
        if not found.unmet or carrying.elsewhere(questions.settle):
            return found
        return found if _alike_elsewhere(carrying, found, sides) else None
    finally:
        sides.close()
        right.close()


def _alike_elsewhere(carrying: Carrying, found: Expected, sides: RightSides) -> bool:
    """Whether right code passes with another process's answers too, where it passed.

    Answers that are not the same to the last bit may still be alike: then they are compared so.
    """
    lender = carrying.lender()
    right = carrying.with_helpers(lender)
    found.transcripts.append(lender.transcript)
    try:
        for item in carrying.items:
            name = carrying.plugin.name(item)
            if name not in found.unmet:
                continue
            if carrying.patience.over:
                return False
            ran, _ = carrying.run_right(item, right, sides, found.unmet[name])
            if ran.report.verdict is Verdict.WRONG:
                return False
            if ran.report.verdict is not Verdict.PASS:
                del found.unmet[name]
        return True
    finally:
        right.close()
