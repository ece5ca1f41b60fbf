"""What was asked of a process and what it answered, test by test, as hashes."""

from __future__ import annotations

import hashlib
from typing import Any

from .remembered import header_of
from .targets import Answer


class Transcript:
    """Holds one hash for each test."""

    def __init__(self) -> None:
        self._tests: dict[str, Any] = {}
        self._test = ""

    def begin(self, test: str) -> None:
        """What comes now belongs to this test."""
        self._test = test

    def asked(self, frame: bytes) -> None:
        feed(self._of(self._test), frame)

    def answered(self, answer: Answer) -> None:
        """An answer; its output and the line of an exception make no difference."""
        reply, buffers = answer
        feed(self._of(self._test), header_of(reply))
        for buffer in buffers:
            feed(self._of(self._test), buffer)

    def ended(self, verdict: str) -> None:
        """There was no answer."""
        feed(self._of(self._test), verdict.encode())

    def of(self, test: str) -> bytes:
        """The hash of all that was asked and answered in a test so far."""
        return bytes(self._of(test).digest())

    def _of(self, test: str) -> Any:
        return self._tests.setdefault(test, hashlib.blake2b(digest_size=20))


def feed(digest: Any, part: bytes | memoryview[int]) -> None:
    """Length first, so that no two sequences of parts hash alike."""
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
