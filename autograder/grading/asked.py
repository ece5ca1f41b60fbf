"""What a lent helper was asked and answered, so that it need not be asked twice.

Theory of operation. Right and wrong versions of an exercise ask a student's helper much the same.
While right code runs, each question is noted with its answer. Then all are asked once more, in
another order, of a process that knows nothing of the first: a helper whose answers are the same to
the last bit answers by what it is asked, and not by when or for whom. Of such a helper no question
need be asked again; what is new is asked of a process of its own. A helper of which this does not
hold (it draws numbers, counts its calls, looks at the clock) is asked every time.

A question is the call of a function, or of an object with how it was made before.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from enum import Enum, auto

import msgspec

from ..files.hashing import feed
from .remembered import header_of
from .room import Room, held
from .targets import Answer
from .transcript import feed_answer

_MOST_BYTES = 16 << 20
Question = tuple[bytes, ...]  # frames: how an object is made, if there is one, and the call
Asks = Callable[[Question], Answer | None]  # None if there is no answer


class State(Enum):
    """What is known of a helper's answers."""

    NOTED = auto()  # once
    AGREED = auto()  # the same in another process, in another order
    DIFFERENT = auto()  # not always the same, too many, or none at all


class HelperQuestions:
    """The questions of one exercise to the helpers of one submission."""

    def __init__(self) -> None:
        self.state = State.NOTED
        self._answers: dict[bytes, tuple[Question, Answer, bytes]] = {}
        self._room = Room(_MOST_BYTES)

    @property
    def agreed(self) -> bool:
        return self.state is State.AGREED

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return _MOST_BYTES - self._room.left

    def known(self, question: Question) -> Answer | None:
        """The answer, where asking again would bring no other."""
        if not self.agreed:
            return None
        found = self._answers.get(_key(question))
        return found[1] if found else None

    def note(self, question: Question, answer: Answer | None) -> None:
        """What right code asked, and what it was answered; None: nothing."""
        if self.state is not State.NOTED:
            return
        key, digest = _key(question), b"" if answer is None else hash_of(answer)
        before = self._answers.get(key)
        if before is None and answer is not None:
            reply, buffers = msgspec.structs.replace(answer[0], printed=""), answer[1]
            size = sum(map(len, question)) + sum(map(len, buffers))
            if self._room.take(held(len(header_of(reply)), size)):
                self._answers[key] = question, (reply, buffers), digest
                return
        if before is None or before[2] != digest:
            self.give_up()

    def give_up(self) -> None:
        """Rely on nothing: not all could be asked, or it was answered in two ways."""
        self.state = State.DIFFERENT
        self._answers.clear()

    def settle(self, ask: Asks) -> bool:
        """Ask all again, of another process; return whether the answers were the same."""
        if self.state is State.NOTED:
            if self.same(ask):
                self.state = State.AGREED
            else:
                self.give_up()
        return self.agreed

    def same(self, ask: Asks) -> bool:
        """Whether all answers are the same in this process, in an order that nobody foresees."""
        answers = list(self._answers.values())
        random.SystemRandom().shuffle(answers)
        for question, _, digest in answers:
            answer = ask(question)
            if answer is None or hash_of(answer) != digest:
                return False
        return True


def hash_of(answer: Answer) -> bytes:
    """A hash of all of an answer that a verdict depends on."""
    digest = hashlib.blake2b(digest_size=20)
    feed_answer(digest, answer)
    return digest.digest()


def _key(frames: Question) -> bytes:
    digest = hashlib.blake2b(digest_size=20)
    for frame in frames:
        feed(digest, frame)
    return digest.digest()
