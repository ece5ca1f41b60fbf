"""Start, monitor and terminate the processes of a sandbox.

The kernel kills bubblewrap when the *thread* that started bubblewrap ends. Therefore, all sandboxes
are started from one thread, which runs until the trusted process ends.
"""

import contextlib
import os
import select
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import psutil


def readable(descriptor: int, seconds: float) -> bool:
    """Wait for a descriptor; return True if it becomes readable within `seconds`.

    A pidfd becomes readable when its process ends.
    """
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(0.0, seconds) * 1000))


def pid_of(pidfd: int) -> int:
    """Return the pid of a pidfd's process in this pid namespace, or -1 if it has been reaped."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["Pid"])


def step_back(pid: int) -> None:
    """Copy this process's niceness, if it is above 0, to the session of the process `pid`.

    Linux distributes CPU time among sessions first (see "autogroup" in `man 7 sched`), and a
    process's niceness matters only within its session. Without this, a sandbox would get as much
    CPU time as a whole session of other processes.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        # fails if the process has ended, or if the kernel lacks autogroups or rate-limits writes
        with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as file:
            file.write(str(niceness))


def status_bytes(pid: int, field: str) -> int:
    """Return a memory field of /proc/PID/status in bytes, or 0 if the process has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) << 10
    return 0


def scheduled_seconds(pid: int) -> tuple[float, float]:
    """Return the seconds that a process ran on, and waited for, a CPU; zeros if it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/schedstat", "rb") as file:
        ran, waited, _ = map(int, file.read().split())
        return ran / 1e9, waited / 1e9
    return 0.0, 0.0


WARM = ("numpy", "torch")
END_SECONDS = 3.0
_ONE_THREAD = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_WHICH_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")  # copied from the grader if set


def environment(cache: str, temporary: str) -> dict[str, str]:
    """Return the template's environment variables, with a writable cache and temporary folder."""
    return {
        **dict.fromkeys(_ONE_THREAD, "1"),
        "PYTHONHASHSEED": "0",  # makes the order of sets reproducible
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": cache,
        "KERAS_BACKEND": "torch",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # keeps `is_available` from initialising CUDA
        **{name: os.environ[name] for name in _WHICH_GPU if name in os.environ},
        "TRITON_INTERPRET": "1",  # the sandbox cannot execute compilers such as gcc
        "USER": "student",
        "HOME": "/submission",
        "TMPDIR": temporary,
    }


def python_arguments(path: list[str], control_fd: int) -> list[str]:
    """Return the arguments of the template's Python interpreter.

    -P, -s and -S replace -I, which would ignore PYTHONHASHSEED. They isolate the interpreter as
    well as -I does, because the environment contains no other Python variables.
    """
    program = f"import sys; sys.path[:] = {path!r}\n"
    program += f"from worker.fork_server import main; main({control_fd})"
    return ["-P", "-s", "-S", "-B", "-X", "utf8", "-c", program]


class Process:
    """The process of a template, whose output is recorded for error messages."""

    def __init__(self, argv: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> None:
        self._printed = os.memfd_create("printed")
        self._process = subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            start_new_session=True,  # only the grader handles Ctrl-C
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=self._printed,
        )

    def end(self, seconds: float) -> str:
        """Kill the process if it outlives `seconds`; return its output, or "" if called again."""
        if self._printed < 0:
            return ""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._kill()
        printed = os.pread(self._printed, 1 << 16, 0).decode(errors="replace")
        os.close(self._printed)
        self._printed = -1
        return printed

    def _kill(self) -> None:
        """Stop the process so that it cannot start another child, then kill it and its children.

        A child may not have a parent-death signal yet, and would stay alive (see `end_orphans`).
        """
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(pid).children():
                child.kill()
        self._process.kill()
        self._process.wait()


def end_orphans() -> None:
    """Kill the processes of sandboxes whose grader was killed while bubblewrap was starting.

    bubblewrap sets its child's parent-death signal shortly after the fork. If bubblewrap dies
    before that, for instance together with the grader, the child waits forever.
    """
    for process in orphans():
        with contextlib.suppress(psutil.Error):
            process.kill()


def orphans() -> list[psutil.Process]:
    """Return the init processes of this user's sandboxes whose bubblewrap has ended."""
    found = []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error, OSError):
            if process.info["name"] == "bwrap" and _is_orphan(process):
                found.append(process)
    return found


def _is_orphan(process: psutil.Process) -> bool:
    with open(f"/proc/{process.pid}/status", encoding="utf-8", errors="replace") as file:
        pids = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
    parent = process.parent()
    return (
        len(pids) > 1
        and pids[-1] == "1"  # process 1 of its pid namespace
        and process.uids().real == os.getuid()
        and "worker.fork_server" in " ".join(process.cmdline())
        and (parent is None or parent.name() != "bwrap")
    )


@cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "sandbox-starter")


os.register_at_fork(after_in_child=_starter.cache_clear)


def run(argv: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> Process:
    """Start a process from a thread that runs until the current process ends."""
    return _starter().submit(Process, argv, descriptors, env).result()
