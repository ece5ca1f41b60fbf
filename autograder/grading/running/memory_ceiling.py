"""A ceiling on what this process may ask for while it works on what a submission answered.

Theory of operation. What a submission may make the grader hold has bounds of its own (`room.py`).
Where one of them is missing, a hidden test or the solution that goes on with an odd answer could
ask for all of the machine's memory. Under the ceiling the kernel refuses that, and the test ends
with an error, which is the submission's: the solution passes it (`runs.py`).
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

# Room for the first use of a library and for all misconceptions of a week.
MOST_BYTES = 512 << 20


@contextlib.contextmanager
def ceiling(size: int = MOST_BYTES) -> Iterator[None]:
    """Let this process ask for so many bytes beyond what it has; only Linux counts them."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = _own_bytes() + size
    if soft == resource.RLIM_INFINITY or bound < soft:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def machine_is_short(size: int = MOST_BYTES) -> bool:
    """Return whether the machine, and not the ceiling, may have refused memory."""
    try:
        known = Path("/proc/meminfo").read_text(encoding="ascii")
        available = int(re.search(r"^MemAvailable:\s+(\d+) kB", known, re.M)[1]) << 10  # type: ignore[index]
    except (OSError, TypeError):
        return True
    bound = resource.getrlimit(resource.RLIMIT_AS)[0] if sys.platform == "linux" else -1
    left = bound - _pages()[0] * _PAGE if bound >= 0 else available
    return min(available, left) < size


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 12


def _own_bytes() -> int:
    """What this process may write to and shares with no file, as RLIMIT_DATA counts it."""
    return _pages()[5] * _PAGE


def _pages() -> list[int]:
    return [int(n) for n in Path("/proc/self/statm").read_bytes().split()]
