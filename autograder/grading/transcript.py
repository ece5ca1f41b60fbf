"""What was asked of a process and what it answered, test by test, as hashes."""

from __future__ import annotations

import hashlib

from ..files.hashing import feed
from .remembered import header_of
from .targets import Answer


class Transcript:
    """Holds one hash for each test."""

    def __init__(self) -> None:
        self._tests: dict[str, hashlib.blake2b] = {}
        self._test = ""

    def begin(self, test: str) -> None:
        """What comes now belongs to this test."""
        self._test = test

    def asked(self, frame: bytes) -> None:
        feed(self._of(self._test), frame)

    def answered(self, answer: Answer) -> None:
        """An answer; its output and the line of an exception make no difference."""
        feed_answer(self._of(self._test), answer)

    def ended(self, verdict: str) -> None:
        """There was no answer."""
        feed(self._of(self._test), verdict.encode())

    def of(self, test: str) -> bytes:
        """The hash of all that was asked and answered in a test so far."""
        return self._of(test).digest()

    def _of(self, test: str) -> hashlib.blake2b:
        return self._tests.setdefault(test, hashlib.blake2b(digest_size=20))


def feed_answer(digest: hashlib.blake2b, answer: Answer) -> None:
    """All of an answer that a verdict depends on: not its output, nor the line of an exception."""
    reply, buffers = answer
    feed(digest, header_of(reply))
    for buffer in buffers:
        feed(digest, buffer)
