"""Starting the process that holds a template.

The kernel ends a sandbox when the *thread* that started it ends. So all are started from one
thread that lives as long as the trusted process, whoever asks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from . import processes

WARM = ("numpy", "torch")
END_SECONDS = 3.0
_ONE_THREAD = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


# Whoever shares a machine's GPUs with others says so.
_WHICH_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


def environment(cache: str, temporary: str) -> dict[str, str]:
    """The template's whole environment. Both folders are writable while it warms up."""
    return {
        **dict.fromkeys(_ONE_THREAD, "1"),
        "PYTHONHASHSEED": "0",  # so that the order of a set is the same in every report
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": cache,
        "KERAS_BACKEND": "torch",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # a library that asks for a GPU must not start it
        **{name: os.environ[name] for name in _WHICH_GPU if name in os.environ},
        "TRITON_INTERPRET": "1",  # no compiler may run; nor is there a need for a cache
        "USER": "student",
        "HOME": "/submission",
        "TMPDIR": temporary,
    }


def python_arguments(path: list[str], control_fd: int) -> list[str]:
    """Options and program for the template's interpreter.

    Not -I: it would ignore PYTHONHASHSEED. With an empty environment, -P, -s and -S isolate alike.
    """
    program = f"import sys; sys.path[:] = {path!r}\n"
    program += f"from worker.fork_server import main; main({control_fd})"
    return ["-P", "-s", "-S", "-B", "-X", "utf8", "-c", program]


class Process:
    """The process that holds a template. What it prints is kept for the error message."""

    def __init__(self, argv: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> None:
        self._printed = os.memfd_create("printed")
        self._process = subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            start_new_session=True,  # a Ctrl-C is the grader's to handle
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=self._printed,
        )

    def end(self, seconds: float) -> str:
        """Wait so long until it ends, else end it; answer what it printed."""
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
        """Kill it and what it started.

        bubblewrap binds its child's life to its own some moments after it started it. Killed in
        between, it leaves a child that waits for ever. So it is stopped first: then it starts no
        other, and its child's number cannot become another process's.
        """
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        for child in processes.children(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


_starter: ThreadPoolExecutor | None = None


def run(argv: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> Process:
    """Start a process from the thread that outlives all callers."""
    global _starter
    if _starter is None:
        _starter = ThreadPoolExecutor(1, "sandbox-starter")
    return _starter.submit(Process, argv, descriptors, env).result()


def _forget_starter() -> None:
    global _starter
    _starter = None


os.register_at_fork(after_in_child=_forget_starter)
