"""Answering calls: the loop that imports a submission and runs what it is asked for.

Theory of operation. `prepare` runs once in the warm template, before any student code exists in
the process. `serve` runs in a submission's own process, after it was confined, and answers frames
until the other side hangs up. Student code shares this process and can falsify every reply, which
gains it nothing: replies are its own answers. All that is promised here is that honest code gets
an honest report, that output and replies are bounded, and that no exception of ours is taken for
the student's.
"""

from __future__ import annotations

import os
import socket
import sys
import warnings
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec
import torch

from .executor import Executor
from .monitor import audit_hook, call_watch, numpy_allocations, rng_state
from .monitor.import_guard import seal, worker_modules
from .monitor.operator_hooks import set_nets
from .protocol import frames
from .torch_support import devices, fake_device
from .torch_support.builders import stock, warm

_READ_BYTES = 1 << 16
_TOGETHER_SECONDS = 0.02

_executor: Executor | None = None
_max_reply = 8 << 20
_gpu_bytes = 0
_libraries: tuple[str, ...] = ()
_own: list[str] = []


def prepare(config: bytes) -> None:
    """Import and warm everything a submission may need, and set the nets for not-allowed calls."""
    global _executor, _max_reply, _gpu_bytes, _libraries, _own
    settings = msgspec.msgpack.decode(config, type=frames.PrepareConfig)
    _max_reply, _gpu_bytes = settings.max_reply_bytes, settings.gpu_bytes
    _libraries = settings.libraries
    _executor = Executor()
    numpy_allocations.ready()
    set_nets(settings.not_allowed)
    if settings.fake_gpu:
        fake_device.warm()
    if settings.optimizers:  # the first of a process imports half of torch
        torch.optim.SGD([torch.zeros(1, requires_grad=True)])
    if settings.drawing:
        from matplotlib import pyplot as plt

        plt.close(plt.figure())  # the first imports its backend
    if settings.counting:
        call_watch.formulas()
    rng_state.seed_all()
    for extra in settings.extras:
        warm(extra)
        stock(extra)
    _own = worker_modules()


def start_gpu() -> None:
    """In a submission's process, before any clock of its runs: a GPU cannot be kept over a fork."""
    devices.start_gpu(_gpu_bytes)


def serve(sock: socket.socket) -> None:
    """Answer requests on `sock` until it closes. The working directory is the submission's own."""
    executor = _executor or Executor()
    executor.root = Path(os.getcwd())
    executor.capture_descriptors()
    executor.imports = seal(str(executor.root), _libraries, _own or worker_modules())
    inbox, outbox = _Inbox(sock), _Outbox(sock)
    told = _Told(outbox)
    executor.ask = _Asking(inbox, outbox, told)
    executor.watcher.tell = lambda banned: told("banned", banned.call, banned.line)
    audit_hook.keep(
        str(executor.root), lambda what, line: told(_KINDS[what in audit_hook.LOOKS], what, line)
    )
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True  # a version loaded after another would be taken for it
    small = min(_max_reply, frames.MAX_REPLY_HEADER)
    while True:
        try:
            stamp, request, buffers = inbox.take()
        except EOFError:
            return
        if isinstance(request, frames.Ahead):
            inbox.read(request.bytes)
            continue
        told.begin(stamp)
        frame = executor.answer(request, buffers)
        if len(frame) > small and _is_too_large(frame):
            frame = frames.pack(frames.Reply("too_large"), [])
        outbox.put(stamp + frame, more=inbox.waiting)


def _is_too_large(frame: bytes) -> bool:
    header_length, _ = frames.frame_lengths(frame[: frames.PREFIX.size], len(frame), len(frame))
    return len(frame) > _max_reply or header_length > frames.MAX_REPLY_HEADER


_KINDS: tuple[Literal["attempt", "banned"], ...] = ("attempt", "banned")


class _Inbox:
    """Requests as they come, with their stamps."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data, self._at = b"", 0

    @property
    def waiting(self) -> bool:
        """Whether more was read than was taken."""
        return self._at < len(self._data)

    def take(self) -> tuple[bytes, frames.Request, list[memoryview]]:
        """The next request; EOFError once the other side is gone."""
        stamp, header, body = self._frame()
        return stamp, *frames.unpack_request(header, body)

    def take_reply(self) -> tuple[frames.Reply, list[memoryview]]:
        """The answer to a question of ours."""
        _, header, body = self._frame()
        return frames.unpack_reply(header, body)

    def _frame(self) -> tuple[bytes, bytes, memoryview]:
        """The stamp, the header and the body of what comes next."""
        if not self.waiting:
            self._data, self._at = b"", 0
        start = frames.STAMP.size + frames.PREFIX.size
        self.read(start)
        stamp = self._data[self._at : self._at + frames.STAMP.size]
        prefix = self._data[self._at + frames.STAMP.size : self._at + start]
        header_length, body_length = frames.frame_lengths(prefix)
        self.read(start + header_length + body_length)
        body = self._at + start + header_length
        header, end = self._data[self._at + start : body], body + body_length
        self._at = end
        return stamp, header, memoryview(self._data)[body:end]

    def read(self, size: int) -> None:
        """Read on until at least so many bytes wait."""
        missing = self._at + size - len(self._data)
        if missing <= 0:
            return
        parts = [self._data]
        while missing > 0:
            part = self._sock.recv(max(_READ_BYTES, min(missing, 1 << 20)))
            if not part:
                raise EOFError
            parts.append(part)
            missing -= len(part)
        self._data = b"".join(parts)


class _Outbox:
    """Replies, sent at once; where more requests wait, those of a moment together.

    Every time that the other side is woken up costs more than most calls.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._parts: list[bytes] = []
        self._size, self._sent = 0, monotonic()

    def put(self, data: bytes, more: bool = False) -> None:
        self._parts.append(data)
        self._size += len(data)
        now = monotonic()
        if not more or self._size > _READ_BYTES or now - self._sent > _TOGETHER_SECONDS:
            self._sock.sendall(b"".join(self._parts))
            self._parts.clear()
            self._size, self._sent = 0, now


class _Told:
    """Tells the trusted side at once what is seen within a call, few times and not the same twice.

    Whoever runs here later, in the same process, could have a reply say anything.
    """

    def __init__(self, outbox: _Outbox) -> None:
        self._outbox = outbox
        self._stamp = b""
        self._left: list[object] = []

    @property
    def stamp(self) -> bytes:
        """Of the request that is being answered."""
        return self._stamp

    def begin(self, stamp: bytes) -> None:
        self._stamp, self._left = stamp, [None] * frames.MAX_NOTICES

    def __call__(self, kind: Literal["attempt", "banned"], what: str, line: int | None) -> None:
        if self._stamp and None in self._left and what not in self._left:
            self._left[self._left.index(None)] = what
            self._outbox.put(self._stamp + frames.pack(frames.Notice(kind, what, line), []))


class _Asking:
    """Asks the trusted side what lent exercises answer, before the reply is due."""

    def __init__(self, inbox: _Inbox, outbox: _Outbox, told: _Told) -> None:
        self._inbox, self._outbox, self._told = inbox, outbox, told

    def __call__(
        self, question: frames.StubCall, buffers: list[bytes]
    ) -> tuple[frames.Reply, list[memoryview]]:
        self._outbox.put(self._told.stamp + frames.pack(question, buffers))
        return self._inbox.take_reply()
