"""Orders on a pipe, and the fork that runs one of them.

A checking Python that serves is forked for each order, with torch imported and pytest about to
collect: the fork answers within a fraction of a second, and whatever the student's code does ends
with it. Only on Linux: elsewhere the libraries that torch brings do not survive a fork, and a spare
Python is started after each order instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import random
import select
import signal
import sys

import msgspec

from .check_messages import Order
from .preimport import import_told, imported_since

CAN_SERVE = sys.platform == "linux" and hasattr(os, "pidfd_open")
_IDLE = 1800.0  # seconds without an order, after which a Python that waits gives its memory back
_PR_SET_PDEATHSIG = 1


class Orders:
    """The lines of a pipe. Whoever writes there may go at any time."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self._text = descriptor, b""

    def next(self) -> Order:
        """Wait for the next order; ends the process if nobody will send one."""
        while b"\n" not in self._text:
            ready = [self.descriptor]
            if CAN_SERVE:
                ready, _, _ = select.select(ready, [], [], _IDLE)
            if not ready or not self.read():
                os._exit(0)
        line, _, self._text = self._text.partition(b"\n")
        return msgspec.json.decode(line, type=Order)

    def read(self) -> bool:
        """Take in what is there; False if whoever gives orders has gone."""
        piece = os.read(self.descriptor, 65536)
        self._text += piece
        return bool(piece)


class Fork:
    """A fork of this Python for one order; what it imported late is imported here for the next."""

    def __init__(self) -> None:
        self._before = frozenset(sys.modules)
        self._told, self._tell = os.pipe()
        self._process = os.fork()
        self.here = not self._process  # this is the fork
        if self.here:
            os.close(self._told)
            _as_if_fresh()
        else:
            os.close(self._tell)

    def wait(self, orders: Orders) -> int:
        """Its exit code (negative: a signal), once it has ended.

        The fork ends with this process, and this process with whoever gives the orders.
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

    def end(self) -> None:
        """In the fork, when all is done: tell what was imported meanwhile."""
        os.set_blocking(self._tell, False)
        with contextlib.suppress(OSError):
            os.write(self._tell, imported_since(self._before))

    def import_late(self) -> None:
        """Here, when it has ended and its results are told: import what it had to."""
        os.set_blocking(self._told, False)  # the fork may have left a process behind
        with contextlib.suppress(OSError), open(self._told, "rb") as told:
            import_told(told.read() or b"")


def _as_if_fresh() -> None:
    """What a Python has that was started just now, and a fork of an old one has not."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    importlib.invalidate_caches()
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
