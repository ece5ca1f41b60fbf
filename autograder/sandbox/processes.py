"""Questions to the kernel about processes, asked from outside."""

from __future__ import annotations

import contextlib
import os
import select


def readable(descriptor: int, seconds: float) -> bool:
    """Return whether there is something to read (of a pidfd: whether the process ended) in time."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(0.0, seconds) * 1000))


def pid_of(pidfd: int) -> int:
    """The process's number as we see it, whatever namespaces it is in."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["Pid"])


def tree(root: int) -> list[int]:
    """`root` and its descendants; the parents of all processes are read once."""
    parents = _parents()
    found = [root]
    for member in found:
        found.extend(pid for pid, parent in parents.items() if parent == member)
    return found


def children(parent: int) -> list[int]:
    """The processes that this one started, zombies included."""
    return [pid for pid, its_parent in _parents().items() if its_parent == parent]


def _parents() -> dict[int, int]:
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # the command's name may hold spaces and brackets: the state follows the last one
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    return parents


def parent_of(pid: int) -> int:
    """The process that started it; 0 if it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return 0


def step_back(pid: int) -> None:
    """Give another process's session our own niceness.

    Linux shares processors among sessions first (`man 7 sched`, autogroup), and niceness counts
    within one: without this, a sandbox takes as much as a whole service that was told to be nice.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        # it is gone, or the kernel has no such thing, or allows ten of them in a second
        with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
            file.write(str(niceness))


def peak_resident_bytes(pid: int) -> int:
    """The most resident memory that a process ever had; 0 if it is gone."""
    return _status_bytes(pid, "VmHWM")


def anonymous_bytes(pid: int) -> int:
    """Resident memory that lies behind no file: what a process and its parents wrote."""
    return _status_bytes(pid, "RssAnon")


def _status_bytes(pid: int, field: str) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) << 10
    return 0


def waited_seconds(pid: int) -> float:
    """Time in a processor's queue (the kernel's schedstat); 0 if it is gone or not counted."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/schedstat", "rb") as file:
        return int(file.read().split()[1]) / 1e9
    return 0.0


def ran_seconds(pid: int) -> float:
    """Time that a process had a processor (the kernel's schedstat); 0 if it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/schedstat", "rb") as file:
        return int(file.read().split()[0]) / 1e9
    return 0.0


def resident_bytes(pid: int) -> int:
    """Resident memory of a process, pages shared with others included; 0 if it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
