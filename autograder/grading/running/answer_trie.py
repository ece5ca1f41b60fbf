"""Reuse the outcome of a hidden test for submissions that send the same replies.

Theory of operation. The next request and the outcome of a hidden test depend only on the replies so
far. The test draws its inputs from the course's secret and the test's name, the reference's replies
are recorded, and the test observes nothing else of a submission. (A test that inspects the process
with `process_of` always runs.) Each test therefore has a trie, which maps the replies so far to the
next request or to the outcome. The next submission first receives the requests in the trie. Every
call is still made, in order, under the clock and the limits of the test; only drawing, encoding and
comparing are skipped. At the first new reply the test itself runs: it receives the replies so far
and makes the remaining requests.

A hostile submission gains nothing, because a submission whose replies equal those of a passing one
to the last bit is correct. A trie contains only verdicts that follow from the answers, and failures
only if the message cannot depend on the submission's source: no exception, no forbidden call, and
allowed words only.
Printed text and the lines of exceptions are not part of a key, because no verdict depends on them.

The path of a test is the sequence of requests that passing submissions receive. Most submissions
follow the same path, so a sandboxed submission receives the paths of an exercise's tests in one
write (`expected`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic

import msgspec
from msgspec.structs import replace

from ...model.report.schema import Verdict
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, nested
from ..disclosure.allowed_words import AllowedWords
from ..outcomes import Flaw, LimitExceeded, Outcome, Unseeded
from ..targets.in_process import Target
from ..targets.resource_limits import KEPT_BYTES, ByteQuota, answer_bytes
from ..targets.sandboxed import NextCall, Sandboxed

_MOST_PATHS = 128  # paths of one test before its trie is cleared
_MOST_BYTES = 16 << 20  # bytes of stored requests, which can contain values from a submission
_MOST_AHEAD = 1 << 20  # bytes of requests that are sent ahead
_SLOW_SECONDS = 0.25  # a slower call is not sent ahead, because it would delay earlier replies
_NOT_KEPT = LimitExceeded("The answers are too large to be stored.")
_START = b""
_encode = msgspec.msgpack.Encoder().encode
_Received = tuple[Answer, bytes]  # a reply, and the part of its header that verdicts depend on


@dataclass(frozen=True)
class End:
    """The outcome of a test, with the message for the student and the flaw of the result."""

    verdict: Verdict
    message: str = ""
    flaw: Flaw = Flaw.CLAIM


PASSED = End(Verdict.PASS)


class AnswerTries:
    """The tries of a week's tests."""

    def __init__(self) -> None:
        self._tries: dict[str, _Trie] = {}
        self._quota = ByteQuota(_MOST_BYTES)

    def target(
        self,
        test: str,
        target: Target,
        words: AllowedWords | None = None,
        quota: ByteQuota | None = None,
    ) -> TrieTarget:
        """Wrap a submission's target for one test. `quota`: the size limit for stored replies."""
        trie = self._tries.setdefault(test, _Trie(self._quota))
        return TrieTarget(trie, target, words or AllowedWords(()), quota or ByteQuota(KEPT_BYTES))

    def expected(self, tests: Iterable[str]) -> list[NextCall]:
        """Return the calls of consecutive tests, up to a size limit or an unpredictable call."""
        calls: list[NextCall] = []
        size = 0
        for test in tests:
            trie = self._tries.get(test)
            if trie is None or trie.path is None:
                break
            size += sum(map(len, trie.path))
            if size > _MOST_AHEAD:
                break
            calls += [NextCall(test, frame) for frame in trie.path]
            if trie.branches:
                break
        return calls


class _Trie:
    """The trie of one test.

    steps:    maps the key of the replies so far to the next request or to the outcome
    path:     the requests that all passing submissions receive, or None before any passes
    branches: whether the requests after `path` depend on the submission
    """

    def __init__(self, quota: ByteQuota) -> None:
        self.steps: dict[bytes, bytes | End] = {}
        self.path: tuple[bytes, ...] | None = None
        self.branches = False
        self._frames: dict[bytes, bytes] = {}
        self._paths = 0
        self._quota = quota

    def store(self, path: list[tuple[bytes, bytes]], key: bytes, end: End) -> None:
        """Store an outcome under `key`, and each request of the path under its own key."""
        if key in self.steps:
            return
        if self._paths >= _MOST_PATHS:
            self.clear()
        new = {frame for _, frame in path} - self._frames.keys()
        if not self._quota.take(sum(map(len, new))):
            return
        self._paths += 1
        for step, frame in path:
            self.steps[step] = self._frames.setdefault(frame, frame)
        self.steps[key] = end

    def learn_path(self, asked: Sequence[bytes], passed: bool) -> None:
        """Set the path to a passing submission's requests, or shorten it to the common prefix."""
        if self.path is None:
            self.path = tuple(asked) if passed else None
            return
        equal = (mine == theirs for mine, theirs in zip(self.path, asked, strict=False))
        common = sum(takewhile(bool, equal))
        if common < len(asked):
            self.path, self.branches = self.path[:common], True

    def clear(self) -> None:
        self._quota.give(sum(map(len, self._frames)))
        self.steps.clear()
        self._frames.clear()
        self._paths = 0


class TrieTarget:
    """Wraps a submission's target during one test, and reads and updates the test's trie.

    answers: the submission's replies, with outcomes for failed calls; a single LimitExceeded if
             the replies exceed the quota
    """

    def __init__(self, trie: _Trie, target: Target, words: AllowedWords, quota: ByteQuota) -> None:
        self.trie, self._target, self._words = trie, target, words
        self.answers: list[Answer | Outcome] = []
        self._quota, self._taken = quota, 0
        self._early: deque[tuple[bytes, _Received | Outcome]] = deque()
        self._path: list[tuple[bytes, bytes]] = []
        self._key = _START
        self._asked: list[bytes] = []
        self._reusable = self._plain = True
        self._slow = self._begun = False

    def begin(self, test: str, exercise: str) -> None:
        """Begin the test on the first call only, because `follow` may have sent requests since."""
        if not self._begun:
            self._begun = True
            self._target.begin(test, exercise)

    def follow(self) -> End | None:
        """Send the stored requests; return the stored outcome, or None if the test must run."""
        key = _START
        while key in self.trie.steps:
            step = self.trie.steps[key]
            if isinstance(step, End):
                return step if step is PASSED or self._plain else None
            try:
                received = self._ask(step)
            except Outcome as outcome:
                self._early.append((step, outcome))
                break
            self._early.append((step, received))
            key = _next_key(key, received)
        return None

    def request(self, frame: bytes) -> Answer:
        self._path.append((self._key, frame))
        received = self._take_early(frame) if self._early else self._ask(frame)
        self._key = _next_key(self._key, received)
        return received[0]

    def _take_early(self, frame: bytes) -> _Received:
        asked, received = self._early.popleft()
        if asked != frame:
            self.trie.clear()
            raise Unseeded("the test makes different calls after the same replies: is it seeded?")
        if isinstance(received, Outcome):
            raise received
        return received

    def _ask(self, frame: bytes) -> _Received:
        self._asked.append(frame)
        started = monotonic()
        try:
            answer = self._target.request(frame)
        except Outcome as outcome:
            self._plain = False
            # Keep a copy, because the traceback would keep the test's variables alive.
            self._keep(type(outcome)(outcome.message), 0)
            raise
        self._slow = self._slow or monotonic() - started > _SLOW_SECONDS
        reply, buffers = answer
        header = header_of(reply)
        self._keep(answer, answer_bytes(len(header) + len(reply.printed), sum(map(len, buffers))))
        self._plain = self._plain and _is_plain(reply, self._words)
        return answer, header

    def _keep(self, answer: Answer | Outcome, size: int) -> None:
        if self._quota.take(size):
            self._taken += size
            self.answers.append(answer)
        else:
            self.release()
            self.answers, self._quota = [_NOT_KEPT], ByteQuota(0)

    def release(self) -> None:
        """Delete the stored replies."""
        self._quota.give(self._taken)
        self._taken, self.answers = 0, []

    def store(self, end: End) -> None:
        """Store the outcome of a test that has run, if other submissions may reuse it."""
        if self._reusable and (end is PASSED or self._plain):
            self.trie.store(self._path, self._key, end)

    def end(self, passed: bool) -> None:
        """End the test and update the path in its trie."""
        if self._reusable:
            too_slow = self._slow and passed
            self.trie.learn_path([] if too_slow else self._asked, passed and not too_slow)

    def process(self) -> Target:
        """Return the wrapped target, and mark the test's outcome as not reusable."""
        self._reusable = False
        return self._target

    def close(self) -> None:
        self._target.close()


def process_of(target: Target) -> Sandboxed | None:
    """Return the sandboxed submission behind a test's target, or None without a sandbox."""
    inner = target.process() if isinstance(target, TrieTarget) else target
    return inner if isinstance(inner, Sandboxed) else None


def _is_plain(reply: frames.Reply, words: AllowedWords) -> bool:
    """Return True if messages about a reply cannot depend on the submission's source."""
    if reply.status != "ok" or reply.raised or reply.banned or reply.mismatch:
        return False
    values = (reply.value, *(reply.gradients or ()))
    objects = (v for v in nested(values) if isinstance(v, (frames.OpaqueV, frames.HandleV)))
    return all(words.is_dotted(o.type) for o in objects)


def header_of(reply: frames.Reply) -> bytes:
    """Encode a reply without its printed text or the line of its exception."""
    if reply.printed or reply.raised is not None:
        raised = reply.raised
        if raised is not None:
            raised = replace(raised, line=None)
        reply = replace(reply, printed="", raised=raised)
    return _encode(reply)  # includes the lengths of the buffers


def _next_key(key: bytes, received: _Received) -> bytes:
    """Return the key of all replies so far: a hash of the previous key and the new reply."""
    (_, buffers), header = received
    digest = hashlib.blake2b(key + len(header).to_bytes(8, "little") + header, digest_size=20)
    for buffer in buffers:
        digest.update(buffer)
    return digest.digest()
