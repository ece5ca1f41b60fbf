"""How parts become one hash."""

from __future__ import annotations

import hashlib


def feed(digest: hashlib.blake2b, part: bytes | memoryview[int]) -> None:
    """Length first, so that no two sequences of parts hash alike."""
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
