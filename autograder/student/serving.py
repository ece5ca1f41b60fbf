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

from .orders import Order

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


def forked(orders: Orders) -> int | None:
    """None in a fork of this Python; here its exit code (negative: a signal), once it has ended.

    The fork ends with this process, and this process with whoever gives the orders.
    """
    process = os.fork()
    if not process:
        _as_if_fresh()
        return None
    handle = os.pidfd_open(process)
    try:
        while True:
            ready, _, _ = select.select([handle, orders.descriptor], [], [])
            if handle in ready:
                return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if not orders.read():
                os.kill(process, signal.SIGKILL)
                os._exit(0)
    finally:
        os.close(handle)


def _as_if_fresh() -> None:
    """What a Python has that was started just now, and a fork of an old one has not."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    importlib.invalidate_caches()
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
