"""Limit the grader's own memory while it works on a submission's answers.

Theory of operation. Quotas bound the answers in the grader's memory (`byte_quota`). If one of them
is missing, a hidden test or the solution could use up the machine's memory while it processes an
unexpected answer. Under the ceiling the kernel refuses the allocation and the test ends with an
error, which counts against the submission if the solution passes the test (`test_runner`).
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.platform == "linux":
    import resource

MOST_BYTES = 512 << 20  # enough to load libraries and to run all misconceptions of a week
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 12
_SIZE, _DATA = 0, 5  # fields of /proc/self/statm, in pages


@contextlib.contextmanager
def ceiling(size: int = MOST_BYTES) -> Iterator[None]:
    """Let this process allocate `size` more bytes. Linux only."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = _own_bytes(_DATA) + size
    if soft == resource.RLIM_INFINITY or bound < soft:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def machine_is_short(size: int = MOST_BYTES) -> bool:
    """Return True if the machine, and not the ceiling, may have refused memory."""
    try:
        known = Path("/proc/meminfo").read_text(encoding="ascii")
        available = int(re.search(r"^MemAvailable:\s+(\d+) kB", known, re.M)[1]) << 10  # type: ignore[index]
    except (OSError, TypeError):
        return True
    bound = resource.getrlimit(resource.RLIMIT_AS)[0] if sys.platform == "linux" else -1
    left = bound - _own_bytes(_SIZE) if bound >= 0 else available
    return min(available, left) < size


def _own_bytes(field: int) -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[field]) * _PAGE
