"""How much one submission may make this process hold.

Theory of operation. A submission chooses the size of its answers. They are held in three places,
each with a bound, so that what is graded beside or after it never lacks memory:

- one reply: `reply_mib` (course.yaml), its header `wire.MAX_REPLY_HEADER`;
- a hidden test's replies, which it may hold until it ends: `reply_mib` together;
- the answers of failed tests, which a diagnosis compares: `KEPT_BYTES` together. A test whose
  answers find no room is not diagnosed; a misconception's answers take less than a hundredth.

A header is decoded into objects: each of its bytes counts for `PER_HEADER_BYTE`.

What is made of answers is bounded, whatever it is, by a ceiling on this process (`ceiling.py`).
"""

from __future__ import annotations

KEPT_BYTES = 16 << 20
PER_HEADER_BYTE = 32


class Room:
    """A number of bytes that are left."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Take this many bytes if they are left; return whether they were."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give(self, size: int) -> None:
        """Give this many bytes back."""
        self.left += size


def held(header: int, body: int) -> int:
    """What an answer takes, from the lengths of its header and body."""
    return header * PER_HEADER_BYTE + body
