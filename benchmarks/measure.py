"""Measure the wall-clock time, processor time and memory of a command and its descendants."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
_LOOK_SECONDS = 0.2
# Sampling makes the kernel count all pages, which takes processor time: use at most 2 % of a core.
_LOOKS_SHARE = 0.02
_PR_SET_CHILD_SUBREAPER = 36
_ORPHANS_SECONDS = 20.0


@dataclass(frozen=True)
class Cost:
    """The cost of running a command, including all its descendants.

    wall:   wall-clock time in seconds
    cpu:    user and system time in seconds
    memory: peak memory in MiB; pages that are shared by several processes count once
    busy:   utilisation of all cores of the machine, between 0 and 1. This includes work of the
            kernel that belongs to no process, such as destroying namespaces. 0 for a sum of runs.
    """

    wall: float
    cpu: float
    memory: float
    busy: float = 0.0


def run(command: Sequence[str | Path], cwd: Path, log: Path, **environment: str) -> Cost:
    """Run a command; return its cost. Raise RuntimeError if its exit code is not 0.

    This process becomes a subreaper. Some sandboxed processes outlive their parents for a moment;
    they become children of this process, so that their processor time can be added.

    log:         file to which standard output and standard error are appended
    environment: additional environment variables
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own = {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    started, before = time.perf_counter(), _cores()
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=os.environ | own | environment,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
    peak, done = [0.0], threading.Event()
    watching = threading.Thread(target=_watch, args=(process.pid, done, peak))
    watching.start()
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    finally:
        done.set()
        watching.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise RuntimeError(f"{command[0]} failed with exit code {process.returncode}:\n{last}")
    wall = time.perf_counter() - started
    worked, idle = (b - a for a, b in zip(before, _cores(), strict=True))
    cpu = used.ru_utime + used.ru_stime + _orphans()
    return Cost(wall, cpu, peak[0], worked / (worked + idle))


def _cores() -> tuple[float, float]:
    """Return the busy time and the idle time of all cores since the machine started, in seconds."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # user time already includes the time of guests
    without = {"idle", "iowait", "steal", "guest", "guest_nice"}
    return sum(v for k, v in times._asdict().items() if k not in without), idle


def _orphans() -> float:
    """Wait for all reparented processes; return their processor time in seconds."""
    total, deadline = 0.0, time.monotonic() + _ORPHANS_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            pid, _, used = os.wait3(os.WNOHANG)
            total += used.ru_utime + used.ru_stime if pid else 0.0
            if not pid:
                time.sleep(0.01)
        raise RuntimeError(
            f"a process of the command is still running after {_ORPHANS_SECONDS:.0f} s"
        )
    return total


def _watch(pid: int, done: threading.Event, peak: list[float]) -> None:
    pause = _LOOK_SECONDS
    while not done.wait(pause):
        started = time.perf_counter()
        peak[0] = max(peak[0], _resident(pid))
        pause = max(_LOOK_SECONDS, (time.perf_counter() - started) / _LOOKS_SHARE)


def _resident(pid: int) -> float:
    """Return the proportional set size of a process and its descendants, in MiB."""
    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    for member in family:
        try:
            for line in Path(f"/proc/{member.pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except (OSError, ProcessLookupError):
            continue
    return total / 1024


def machine() -> str:
    """Describe this machine: cores, processor, memory and Python version."""
    model = "an unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = psutil.virtual_memory().total / 2**30
    cores = len(os.sched_getaffinity(0))
    return (
        f"{cores} cores of {model}, {memory:.0f} GiB memory, Linux, "
        f"Python {platform.python_version()}"
    )
