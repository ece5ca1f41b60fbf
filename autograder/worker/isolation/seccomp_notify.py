"""The kernel's questions about a child's system calls, answered with "not permitted" and counted.

Theory of operation. The child puts the asking program on itself before the one that refuses, sends
the descriptor on which the kernel asks to the template, and can then make no other. The template
answers in its loop; a child that waits for an answer can still be killed. After a while nobody
listens to a child that goes on and on: its calls are then refused by the kernel alone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_QUESTION, _ANSWER = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI")
_MOST = 200  # questions of one child that are answered


class Questions:
    """What the kernel asked about one child."""

    def __init__(self, listener: int) -> None:
        self.listener = listener
        self.counts: dict[int, int] = {}

    def answer(self) -> bool:
        """Answer one question; whether there may be others."""
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, question)
        except OSError as error:  # whoever asked was killed meanwhile, or nobody is left
            return error.errno in (errno.ENOENT, errno.EINTR)
        number, _, _, call, *_ = _QUESTION.unpack(question)
        self.counts[call] = self.counts.get(call, 0) + 1
        answer = bytearray(_ANSWER.pack(number, 0, -errno.EPERM, 0))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _SEND, answer)
        return sum(self.counts.values()) < _MOST

    def close(self) -> None:
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1


def hand_over(listener: int, channel: int) -> None:
    """In the child: send the descriptor to the template, and keep no copy of it."""
    with socket.socket(fileno=os.dup(channel)) as sock:
        socket.send_fds(sock, [b"?"], [listener])
    os.close(listener)
