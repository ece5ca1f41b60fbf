"""Combine several parts into one hash."""

from __future__ import annotations

import hashlib


def feed(digest: hashlib.blake2b, part: bytes | memoryview[int]) -> None:
    """Add a part after its length, so that different sequences of parts have different hashes."""
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
