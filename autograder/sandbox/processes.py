"""Read what psutil does not: pidfds, and resource usage that /proc alone reports."""

from __future__ import annotations

import contextlib
import os
import select


def readable(descriptor: int, seconds: float) -> bool:
    """Return True once a descriptor is readable (a pidfd: has ended), False after `seconds`."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(0.0, seconds) * 1000))


def pid_of(pidfd: int) -> int:
    """Return the pid of a process in our own pid namespace."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["Pid"])


def step_back(pid: int) -> None:
    """Copy our niceness to the session of another process.

    Linux distributes CPU time among sessions first (`man 7 sched`, autogroup) and applies niceness
    only within a session: otherwise a sandbox would get as much CPU time as everything else.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        # the process has ended, the kernel has no autogroups, or the rate limit was reached
        with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
            file.write(str(niceness))


def peak_resident_bytes(pid: int) -> int:
    """Return the peak resident memory of a process; 0 if it has ended."""
    return _status_bytes(pid, "VmHWM")


def anonymous_bytes(pid: int) -> int:
    """Return the resident memory of a process that is not backed by a file; 0 if it has ended."""
    return _status_bytes(pid, "RssAnon")


def _status_bytes(pid: int, field: str) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) << 10
    return 0


def ran_seconds(pid: int) -> float:
    """Return the time that a process ran on a CPU; 0 if it has ended."""
    return _schedstat_seconds(pid, 0)


def waited_seconds(pid: int) -> float:
    """Return the time that a process was runnable but waited for a CPU; 0 if it has ended."""
    return _schedstat_seconds(pid, 1)


def _schedstat_seconds(pid: int, field: int) -> float:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/schedstat", "rb") as file:
        return int(file.read().split()[field]) / 1e9
    return 0.0


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, including shared pages; 0 if it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
