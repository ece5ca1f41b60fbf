"""What a grader that was killed at the wrong moment left: the beginning of a sandbox.

bubblewrap binds its child's life to its own some moments after it started it. If it dies in
between, as it does with its grader, that child waits for ever. It runs nothing yet. Whoever starts
a sandbox next ends it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from . import processes

_NAME = "bwrap"
_OURS = b"worker.fork_server"


def end_orphans() -> int:
    """End them; how many there were."""
    found = orphans()
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def orphans() -> list[int]:
    return [pid for pid in _called(_NAME) if _is_orphan(pid)]


def _called(name: str) -> list[int]:
    pids = filter(str.isdigit, os.listdir("/proc"))
    return [int(pid) for pid in pids if _read(int(pid), "comm").strip() == name.encode()]


def _is_orphan(pid: int) -> bool:
    """Return whether it is first in a sandbox of ours, and bubblewrap outside of it is gone."""
    if _OURS not in _read(pid, "cmdline"):
        return False
    fields = dict(line.split(b":", 1) for line in _read(pid, "status").splitlines())
    own = int(fields.get(b"Uid", b"-1").split()[0]) == os.getuid()
    numbers = fields.get(b"NSpid", b"").split()
    first_inside = len(numbers) > 1 and int(numbers[-1]) == 1
    parent = processes.parent_of(pid)
    return own and first_inside and _read(parent, "comm").strip() != _NAME.encode()


def _read(pid: int, what: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{what}").read_bytes()
    return b""
