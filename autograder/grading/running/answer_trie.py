"""How a test ended once is known: a test that gets the same answers is not run again.

Theory of operation. What a hidden test asks next, and how it ends, follows from the answers it got
so far: its inputs are drawn from the course's secret and its own name, the reference's answers are
recorded, and it sees nothing else of a submission (a test that does look at the process itself is
run every time: `process_of`). So the answers that led to an end are kept as a tree of
(answers so far -> next request, or the end), and the next submission is first asked along the
tree. Every call is still made, in the order, under the clock and with the bounds of the test;
only drawing, encoding and comparing what was drawn, encoded and compared before is left out. At
the first answer that is new, the test itself runs: it is given the answers that are there already
and asks for the rest.

A liar gains nothing: who answers like a passing submission, to the last bit, passes by right. Of
the other ends only `wrong` is kept, and only where its message cannot depend on the source:
nothing was raised or forbidden, and every name that was answered may be repeated (`Echo`). Output
and the lines of an exception are left out of the key, since no verdict depends on them.

What a test asked of whoever passed it, it will most likely ask the next one: its way. A submission
in a sandbox is sent the ways of an exercise's tests in one piece (`expected`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import NamedTuple

import msgspec

from ...worker.protocol import frames
from ..disclosure.allowed_words import Echo
from ..outcomes import Flaw, LimitExceeded, Outcome, Unseeded
from ..targets.byte_quota import KEPT_BYTES, Room, held
from ..targets.in_process import Answer, Target
from ..targets.sandboxed import NextCall, Sandboxed

# Ways through one test, after which its memory starts anew: what bounds its size.
_MOST_WAYS = 128
# Requests of all tests that are remembered. A test that passes answers on makes them a stranger's.
_MOST_BYTES = 16 << 20
# A call that takes longer is not sent ahead: while it runs, nothing is heard of those before it.
_SLOW_SECONDS = 0.25
# Of requests, what is sent ahead at most.
_MOST_AHEAD = 1 << 20
# What a diagnosis finds in place of answers that took too much room.
_NOT_KEPT = LimitExceeded("These answers are too large to be kept.")
_START = b""
_NO_WORDS = Echo(())
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True)
class End:
    """How a test ended. `wrong` is the message, or None if it passed; `flaw` what is wrong."""

    wrong: str | None
    flaw: Flaw = Flaw.CLAIM


PASSED = End(None)


class Memory:
    """Of every test of a week, how it ends after which answers."""

    def __init__(self) -> None:
        self._tests: dict[str, _Tree] = {}
        self._room = Room(_MOST_BYTES)

    def meeting(
        self, test: str, target: Target, echo: Echo = _NO_WORDS, kept: Room | None = None
    ) -> Meeting:
        """A target's meeting with a test. `kept`: where the submission's answers find room."""
        tree = self._tests.get(test)
        if tree is None:
            tree = self._tests[test] = _Tree(self._room)
        return Meeting(tree, target, echo, kept or Room(KEPT_BYTES))

    def expected(self, tests: Iterable[str]) -> list[NextCall]:
        """What these tests will ask, one after the other, up to the first that is not known."""
        calls: list[NextCall] = []
        size = 0
        for test in tests:
            tree = self._tests.get(test)
            if tree is None or tree.way is None:
                break
            size += sum(map(len, tree.way))
            if size > _MOST_AHEAD:
                break
            calls += [NextCall(test, frame) for frame in tree.way]
            if tree.parts:
                break
        return calls


class _Tree:
    """Of one test: by the answers so far, the next request or the end.

    way:   what it asks of whoever passes
    parts: whether it goes on in another way for each
    """

    def __init__(self, room: Room) -> None:
        self.way: tuple[bytes, ...] | None = None
        self.parts = False
        self.steps: dict[bytes, bytes | End] = {}
        self._frames: dict[bytes, bytes] = {}
        self._ways = 0
        self._room = room

    def keep(self, path: list[tuple[bytes, bytes]], end: bytes, how: End) -> None:
        if end in self.steps:
            return
        if self._ways >= _MOST_WAYS:
            self.forget()
        if not self._room.take(sum(len(f) for f in {f for _, f in path} if f not in self._frames)):
            return
        self._ways += 1
        for key, frame in path:
            self.steps[key] = self._frames.setdefault(frame, frame)
        self.steps[end] = how

    def learn(self, asked: Sequence[bytes], whole: bool) -> None:
        """What the test asked now; `whole`: of a submission that passes."""
        if self.way is None:
            self.way = tuple(asked) if whole else None
            return
        if len(asked) <= len(self.way) and self.way[: len(asked)] == tuple(asked):
            return
        same = sum(1 for _ in takewhile(_equal, zip(self.way, asked, strict=False)))
        if same < len(asked):
            self.way, self.parts = self.way[:same], True

    def forget(self) -> None:
        self._room.left += sum(map(len, self._frames))
        self.steps.clear()
        self._frames.clear()
        self._ways = 0


def _equal(pair: tuple[bytes, bytes]) -> bool:
    return pair[0] == pair[1]


class _Got(NamedTuple):
    """An answer, and its header without what no verdict depends on."""

    answer: Answer
    header: bytes


class Meeting:
    """A submission's target during one test.

    answers: those it gave, for a diagnosis, as long as they find room among its `kept` ones
    """

    def __init__(self, tree: _Tree, target: Target, echo: Echo, kept: Room) -> None:
        self._tree, self._target, self._echo = tree, target, echo
        self.answers: list[Answer | Outcome] = []
        self._kept, self._held = kept, 0
        self._early: deque[tuple[bytes, _Got | Outcome]] = deque()
        self._path: list[tuple[bytes, bytes]] = []
        self._key = _START
        self._answers_say_all = self._plain = True
        self._asked: list[bytes] = []
        self._slow = self._begun = False

    def begin(self, test: str, exercise: str) -> None:
        """The test starts; once, for what was asked along the tree belongs to it."""
        if not self._begun:
            self._begun = True
            self._target.begin(test, exercise)

    def known(self) -> End | None:
        """Ask along the tree. None if the test must run; it then gets these answers first."""
        key = _START
        while key in self._tree.steps:
            step = self._tree.steps[key]
            if isinstance(step, End):
                return step if step is PASSED or self._plain else None
            try:
                got = self._ask(step)
            except Outcome as outcome:
                self._early.append((step, outcome))
                break
            self._early.append((step, got))
            key = _after(key, got)
        return None

    def request(self, frame: bytes) -> Answer:
        self._path.append((self._key, frame))
        got = self._got(frame)
        self._key = _after(self._key, got)
        return got.answer

    def _ask(self, frame: bytes) -> _Got:
        self._asked.append(frame)
        started = monotonic()
        try:
            answer = self._target.request(frame)
        except Outcome as outcome:
            # without its traceback, which would keep all that the test holds
            self._keep(type(outcome)(outcome.message), 0)
            self._plain = False
            raise
        self._slow = self._slow or monotonic() - started > _SLOW_SECONDS
        header = header_of(answer[0])
        self._keep(answer, held(len(header) + len(answer[0].printed), sum(map(len, answer[1]))))
        self._plain = self._plain and _is_plain(answer[0], self._echo)
        return _Got(answer, header)

    def _keep(self, answer: Answer | Outcome, size: int) -> None:
        if self._kept.take(size):
            self._held += size
            self.answers.append(answer)
        elif not self.answers or self.answers[0] is not _NOT_KEPT:
            self.release()
            self.answers = [_NOT_KEPT]
            self._kept = Room(0)

    def release(self) -> None:
        """Give back the room of answers that nobody will look at."""
        self._kept.left += self._held
        self._held = 0
        self.answers = []

    def _got(self, frame: bytes) -> _Got:
        if not self._early:
            return self._ask(frame)
        asked, got = self._early.popleft()
        if asked != frame:
            self._tree.forget()
            raise Unseeded("the test does not ask the same after the same answers: is it seeded?")
        if isinstance(got, Outcome):
            raise got
        return got

    def remember(self, end: End) -> None:
        """How the test ended on the answers that went through `request`."""
        if self._answers_say_all and (end is PASSED or self._plain):
            self._tree.keep(self._path, self._key, end)

    def end(self, passed: bool) -> None:
        """The test is over; learn what it asked."""
        if self._answers_say_all:
            whole = passed and not self._slow
            self._tree.learn([] if self._slow and passed else self._asked, whole)

    def process(self) -> Target:
        """What answers, to be looked at directly. How such a test ends is not remembered."""
        self._answers_say_all = False
        return self._target

    @property
    def attempts(self) -> Sequence[str]:
        return self._target.attempts

    def close(self) -> None:
        self._target.close()


def process_of(target: Target) -> Sandboxed | None:
    """The process behind a test's target, for what no answer says; None if there is none."""
    inner = target.process() if isinstance(target, Meeting) else target
    return inner if isinstance(inner, Sandboxed) else None


def _is_plain(reply: frames.Reply, echo: Echo) -> bool:
    """Return whether no message about this reply can depend on the source."""
    if reply.status != "ok" or reply.raised or reply.banned or reply.mismatch:
        return False
    values = (reply.value, *(reply.gradients or ()))
    return _NAMELESS.issuperset(map(type, values)) or all(map(echo.dotted, _names(values)))


# Most of what is answered, and it holds no name.
_NAMELESS = frozenset({frames.TensorV, frames.ArrayV, type(None), bool, int, float, str})


def _names(values: tuple[frames.Value, ...]) -> Iterator[str]:
    for value in values:
        if isinstance(value, (frames.OpaqueV, frames.HandleV)):
            yield value.type
        elif isinstance(value, (frames.SeqV, frames.MapV)):
            yield from _names(value.items)


def header_of(reply: frames.Reply) -> bytes:
    """What a reply says, but for its output and where it raised."""
    if reply.printed or reply.raised is not None:
        raised = reply.raised
        if raised is not None:
            raised = msgspec.structs.replace(raised, line=None)
        reply = msgspec.structs.replace(reply, printed="", raised=raised)
    return _encode(reply)  # it holds the buffers' lengths


def _after(key: bytes, got: _Got) -> bytes:
    """The key of the answers so far and one more."""
    header = got.header
    digest = hashlib.blake2b(key + len(header).to_bytes(8, "little") + header, digest_size=20)
    for buffer in got.answer[1]:
        digest.update(buffer)
    return digest.digest()
