"""End half-started sandboxes of graders that were killed.

bubblewrap sets the parent-death signal of its child shortly after the fork. If bubblewrap dies in
between, for instance together with the grader, the child waits forever without running anything.
The next grader that starts a sandbox ends such children.
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
    """Kill all orphans and return their number."""
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
    """Return True for the first process of one of our sandboxes whose bubblewrap has ended."""
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
