"""The request loop of a submission's process.

Theory of operation. `prepare` runs once in the fork server, before any student code is loaded.
`serve` runs in a confined child and replies to requests until the trusted process closes the
socket. Student code runs in the same process and can falsify every reply, but gains nothing by
doing so, because the trusted process treats a reply as untrusted output of the submission. This
module guarantees that honest code gets a correct report, and that the sizes of output and replies
are bounded.
"""

import io
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
from .monitor import audit_hook, call_hooks, numpy_allocations
from .monitor.import_guard import StudentImports
from .monitor.operator_hooks import install_hooks
from .monitor.side_effects import seed_random
from .protocol import frames
from .torch_support import devices, fake_device
from .torch_support.builders import warm

_READ_BYTES = 1 << 16
_TOGETHER_SECONDS = 0.02

_executor: Executor | None = None
_settings = frames.PrepareConfig()
_imports: StudentImports | None = None


def prepare(config: bytes) -> None:
    """Import the libraries that a submission may need, and install hooks for forbidden calls.

    config: a `PrepareConfig` encoded as MessagePack
    """
    global _executor, _settings, _imports
    _settings = msgspec.msgpack.decode(config, type=frames.PrepareConfig)
    _executor = Executor()
    numpy_allocations.check_handler()
    install_hooks(_settings.not_allowed)
    if _settings.fake_gpu:
        fake_device.warm()
    if _settings.optimizers:  # torch imports many modules for the first optimizer
        torch.optim.SGD([torch.zeros(1, requires_grad=True)])
    if _settings.drawing:
        from matplotlib import pyplot as plt

        plt.close(plt.figure())  # matplotlib imports its backend for the first figure
    if _settings.counting:
        call_hooks.formulas()
    seed_random()
    for extra in _settings.extras:
        warm(extra)
    _imports = StudentImports(_settings.libraries)


def start_gpu() -> None:
    """Initialise CUDA in a child, because a CUDA context cannot be used after a fork."""
    devices.start_gpu(_settings.gpu_bytes)


def serve(sock: socket.socket) -> None:
    """Reply to requests until `sock` is closed; store submitted files in the current folder."""
    executor = _executor or Executor()
    executor.root = Path(os.getcwd())
    executor.imports = _imports or StudentImports(_settings.libraries)
    executor.imports.seal(str(executor.root))
    inbox, outbox = _Inbox(sock), _Outbox(sock)
    notices = _Notices(outbox)

    def ask(
        question: frames.StubCall, buffers: list[bytes]
    ) -> tuple[frames.Reply, list[memoryview]]:
        outbox.send(notices.stamp + frames.pack(question, buffers))
        return inbox.take_reply()

    executor.ask = ask
    executor.watcher.tell = lambda banned: notices("banned", banned.call, banned.line)
    audit_hook.install(
        str(executor.root),
        lambda what, line: notices("banned" if what in audit_hook.LOOKS else "attempt", what, line),
    )
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True  # stale bytecode could replace a later version of a module
    small = min(_settings.max_reply_bytes, frames.MAX_REPLY_HEADER)
    while True:
        try:
            stamp, request, buffers = inbox.take()
        except EOFError:
            return
        if isinstance(request, frames.Ahead):
            inbox.read_ahead(request.bytes)
            continue
        notices.begin(stamp)
        frame = executor.answer(request, buffers)
        if len(frame) > small and _is_too_large(frame):
            frame = frames.pack(frames.Reply("too_large"), [])
        outbox.send(stamp + frame, more=inbox.waiting > 0)


def _is_too_large(frame: bytes) -> bool:
    header_length, _ = frames.frame_lengths(frame[: frames.PREFIX.size], len(frame), len(frame))
    return len(frame) > _settings.max_reply_bytes or header_length > frames.MAX_REPLY_HEADER


class _Inbox:
    """Reads frames from the socket. Calls that an `Ahead` announces are read all at once."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock.makefile("rb", _READ_BYTES)
        self._ahead = io.BytesIO()
        self.waiting = 0  # bytes of `_ahead` that have not been read yet

    def take(self) -> tuple[bytes, frames.Request, list[memoryview]]:
        """Read a request's stamp, message and buffers; raise EOFError if the socket is closed."""
        stamp, header, body = self._frame()
        return stamp, *frames.unpack_request(header, body)

    def take_reply(self) -> tuple[frames.Reply, list[memoryview]]:
        """Return the reply to a stub's call, with its buffers."""
        _, header, body = self._frame()
        return frames.unpack_reply(header, body)

    def read_ahead(self, size: int) -> None:
        """Read all announced calls now, because otherwise both processes could block on a write."""
        self._ahead, self.waiting = io.BytesIO(self._read(size)), size

    def _frame(self) -> tuple[bytes, bytes, bytes]:
        start = self._read(frames.STAMP.size + frames.PREFIX.size)
        header_length, body_length = frames.frame_lengths(start[frames.STAMP.size :])
        return start[: frames.STAMP.size], self._read(header_length), self._read(body_length)

    def _read(self, size: int) -> bytes:
        source = self._ahead if self.waiting else self._socket
        data: bytes = source.read(size)
        self.waiting -= len(data) if self.waiting else 0
        if len(data) < size:
            raise EOFError
        return data


class _Outbox:
    """Sends replies immediately, or in batches while more requests are waiting.

    Batches save time because waking up the trusted process takes longer than most calls.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._parts: list[bytes] = []
        self._size, self._sent = 0, monotonic()

    def send(self, data: bytes, more: bool = False) -> None:
        self._parts.append(data)
        self._size += len(data)
        now = monotonic()
        if not more or self._size > _READ_BYTES or now - self._sent > _TOGETHER_SECONDS:
            self._sock.sendall(b"".join(self._parts))
            self._parts.clear()
            self._size, self._sent = 0, now


class _Notices:
    """Sends notices during a request: each event once, and at most `MAX_NOTICES` per request.

    A notice is sent immediately, because the submission could falsify the reply later.
    """

    def __init__(self, outbox: _Outbox) -> None:
        self._outbox = outbox
        self.stamp = b""  # stamp of the current request
        self._sent: list[str] = []

    def begin(self, stamp: bytes) -> None:
        self.stamp, self._sent = stamp, []

    def __call__(self, kind: Literal["attempt", "banned"], event: str, line: int | None) -> None:
        if self.stamp and event not in self._sent and len(self._sent) < frames.MAX_NOTICES:
            self._sent.append(event)
            self._outbox.send(self.stamp + frames.pack(frames.Notice(kind, event, line), []))
