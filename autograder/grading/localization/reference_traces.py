"""What traced programs of our own noted in a test: kept on disk, so that it is noted once.

It follows from the program's text and from what the test asks; both are in the key. What was noted
by another version of the kit is not found (`kept.py`).
"""

from __future__ import annotations

import hashlib

import numpy as np

from ...files.hashing import feed
from ...repair.instrumentation import WIDTH
from ..diagnosis.probes import Probe
from ..running.disk_cache import KeptRuns
from ..targets.byte_quota import Room
from ..targets.in_process import Target
from .trace_values import noted

_MOST_BYTES = 16 << 20


class OwnNotes:
    """Of one exercise."""

    def __init__(self, exercise: str, kept: KeptRuns | None = None) -> None:
        self._exercise, self._kept = exercise, kept
        self._known = kept.notes(exercise) if kept is not None else {}
        self._room = Room(_MOST_BYTES - sum(len(n or b"") for n in self._known.values()))
        self._grown = False

    def of(self, source: str, target: Target, probe: Probe) -> np.ndarray | None:
        """The rows of a traced program; None if it came to no end."""
        if self._kept is None:
            return noted(target, self._exercise, probe)
        key = _key(source, probe)
        if key in self._known:
            return _rows(self._known[key])
        rows = noted(target, self._exercise, probe)
        data = None if rows is None else rows.tobytes()
        if self._room.take(len(data or b"")):
            self._known[key], self._grown = data, True
        return rows

    def keep(self) -> None:
        """Leave what is new to other processes, and to later ones."""
        if self._kept is not None and self._grown:
            self._kept.put_notes(self._exercise, self._known)
            self._grown = False


def _key(source: str, probe: Probe) -> bytes:
    digest = hashlib.blake2b(digest_size=20)
    for part in (source.encode(), probe.test.encode(), *(frame for frame, _ in probe.steps)):
        feed(digest, part)
    return digest.digest()


def _rows(data: bytes | None) -> np.ndarray | None:
    return None if data is None else np.frombuffer(data).reshape(-1, WIDTH).copy()
