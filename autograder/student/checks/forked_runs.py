"""Run each order in a fork of a process that has already imported torch.

A fork answers within a fraction of a second, and the effects of the student's code end with it. A
check may import more of a large library. The fork reports these modules, and the waiting process
imports them for the next fork. Some libraries read environment variables at import, which a
student's file may set, so the fork reports these too; if a file sets them differently later, the
waiting process is replaced.

Only on Linux: elsewhere torch's libraries do not survive a fork, and a spare Python is started
after each order instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import random
import select
import signal
import sys
from pathlib import Path

import msgspec

from .check_results import CheckOrder

CAN_SERVE = sys.platform == "linux" and hasattr(os, "pidfd_open")
_IDLE = 1800.0  # seconds without an order, after which a waiting process frees its memory
_PR_SET_PDEATHSIG = 1
# torch imports half of itself when it first needs an optimizer or looks up a device by name
_LIBRARIES = ("torch", "keras", "transformers", "tokenizers", "triton")
_VARIABLES = ("KERAS_BACKEND", "TRITON_INTERPRET")
_PIPE_BYTES = 32768


class LateImports(msgspec.Struct):
    """Modules of large libraries that a check imported, and the environment variables set then."""

    modules: list[str]
    variables: dict[str, str]

    @classmethod
    def since(cls, before: frozenset[str]) -> LateImports:
        """Return the modules imported since `before`, without files of the student's folder."""
        here = os.getcwd() + os.sep
        own = {n for n in _LIBRARIES if str(_file_of(n)).startswith(here)}  # such as `keras.py`
        names = [n for n in sys.modules if n not in before and n.partition(".")[0] in _LIBRARIES]
        return cls(
            [n for n in names if n.partition(".")[0] not in own],
            {n: os.environ[n] for n in _VARIABLES if n in os.environ},
        )

    def repeat(self) -> None:
        """Import the modules here, under the same variables; restore the environment."""
        import pytest  # the process that waits has loaded it

        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                if name in _VARIABLES:
                    patch.setenv(name, value)
            for name in self.modules:
                if name.partition(".")[0] in _LIBRARIES:
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
        gc.freeze()  # as before the first fork


def variables_set_in(folder: Path) -> tuple[str, ...]:
    """Return the lines in a folder's files that mention a variable read at import."""
    lines: list[str] = []
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            lines += (x.strip() for x in text.split("\n") if any(v in x for v in _VARIABLES))
    return tuple(lines)


class OrderPipe:
    """Orders from a pipe, one per line; the other end may close at any time."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self._text = descriptor, b""

    def next(self) -> CheckOrder:
        """Wait for the next order; end the process if there will be none."""
        while b"\n" not in self._text:
            ready = [self.descriptor]
            if CAN_SERVE:
                ready, _, _ = select.select(ready, [], [], _IDLE)
            if not ready or not self.read():
                os._exit(0)
        line, _, self._text = self._text.partition(b"\n")
        return msgspec.json.decode(line, type=CheckOrder)

    def read(self) -> bool:
        """Read the available bytes; return False if the other end is closed."""
        data = os.read(self.descriptor, 65536)
        self._text += data
        return bool(data)


class Fork:
    """A fork of this process for one order; `is_child` is True in the fork."""

    def __init__(self) -> None:
        self._before = frozenset(sys.modules)
        self._read_end, self._write_end = os.pipe()
        self._process = os.fork()
        self.is_child = not self._process
        if self.is_child:
            os.close(self._read_end)
            _refresh_process_state()
        else:
            os.close(self._write_end)

    def wait(self, orders: OrderPipe) -> int:
        """Return the child's exit code, negative for a signal.

        If the process that sends the orders ends, the child and this process end too.
        """
        handle = os.pidfd_open(self._process)
        try:
            while True:
                ready, _, _ = select.select([handle, orders.descriptor], [], [])
                if handle in ready:
                    return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
                if not orders.read():
                    os.kill(self._process, signal.SIGKILL)
                    os._exit(0)
        finally:
            os.close(handle)

    def report_imports(self) -> None:
        """In the child, report the modules that it imported."""
        os.set_blocking(self._write_end, False)
        report = msgspec.json.encode(LateImports.since(self._before))
        if len(report) < _PIPE_BYTES:
            with contextlib.suppress(OSError):
                os.write(self._write_end, report)

    def repeat_imports(self) -> None:
        """In the parent, import the modules that the child reported."""
        os.set_blocking(self._read_end, False)  # the child may have left a process behind
        with contextlib.suppress(OSError, ValueError), open(self._read_end, "rb") as pipe:
            msgspec.json.decode(pipe.read() or b"", type=LateImports).repeat()


def _file_of(name: str) -> object:
    return getattr(sys.modules.get(name), "__file__", None)


def _refresh_process_state() -> None:
    """Make a fork behave like a new process, which ends with its parent."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    importlib.invalidate_caches()
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
