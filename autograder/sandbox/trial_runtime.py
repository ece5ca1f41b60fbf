"""Replacement for the worker in a sandbox trial, which tries to escape from the sandbox.

This module runs inside a sandbox in place of `worker/server.py`. It sends the comma-separated names
of the attempts that succeeded, with a note if it cannot write its own folder, and a full stop.
"""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path


def prepare(config: bytes) -> None:
    """Do nothing, because a trial needs no preparation; required by the fork server."""


def serve(sock: socket.socket) -> None:
    """Try to escape, and send the result."""
    escaped = [name for name, attempt in _ATTEMPTS.items() if _succeeds(attempt)]
    if not _succeeds(lambda: Path("own").write_bytes(b"x")):
        escaped.append("nothing: not even its own folder can be written")
    sock.sendall(",".join(escaped).encode() + b".")


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, RuntimeError):
        return False
    return True


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


_ATTEMPTS: dict[str, Callable[[], object]] = {
    "host files": lambda: open("/etc/hostname", "rb").close(),
    "other processes": lambda: open("/proc/self/status", "rb").close(),
    "writing outside": lambda: open("/escaped", "wb").close(),
    "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "unix sockets": lambda: socket.socket(socket.AF_UNIX).close(),
    "processes": _fork,
    "threads": lambda: threading.Thread(target=int).start(),
    "the parent": lambda: os.kill(os.getppid() or -1, 0),
}
