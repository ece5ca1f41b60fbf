"""Quotas for the grader's memory that one submission can use.

Theory of operation. A submission chooses the size of its answers. The grader stores them in three
places, each with a quota, so that the submissions graded next never lack memory:

- one reply: `reply_mib` (course.yaml), and `frames.MAX_REPLY_HEADER` for its header;
- the replies of one hidden test, which may use them until it ends: `reply_mib` together;
- the answers of failed tests, which a diagnosis compares: `KEPT_BYTES` together. A test whose
  answers exceed the quota is not diagnosed; the answers of a misconception take less than a
  hundredth of it.

`memory_ceiling` bounds the memory for values computed from the answers.
"""

from __future__ import annotations

KEPT_BYTES = 16 << 20
_BYTES_PER_HEADER_BYTE = 32  # decoded objects take more memory than the header


class ByteQuota:
    """A limited number of bytes. `left`: the bytes that are still available."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Take this many bytes and return True, or return False if fewer are left."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give(self, size: int) -> None:
        self.left += size


def answer_bytes(header: int, body: int) -> int:
    """Return the memory that an answer takes, from the lengths of its header and body."""
    return header * _BYTES_PER_HEADER_BYTE + body
