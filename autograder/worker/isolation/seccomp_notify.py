"""Count a child's forbidden system calls with seccomp notifications, and refuse them.

Theory of operation. The child installs the notifying program before the refusing one, sends the
listener's descriptor to the fork server, and cannot create another. The fork server answers in its
loop; a child that waits for an answer can still be killed. After a number of notifications it
closes the listener, and the kernel refuses further calls by itself.
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
_MAX_ANSWERS = 200  # for one child


class Notifications:
    """The notifications about one child.

    counts: how often each system call was attempted, by number
    """

    def __init__(self, listener: int) -> None:
        self.listener = listener
        self.counts: dict[int, int] = {}

    def answer(self) -> bool:
        """Refuse one system call; return False if no more notifications should be read."""
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, question)
        except OSError as error:  # the caller was killed, or the child has ended
            return error.errno in (errno.ENOENT, errno.EINTR)
        number, _, _, call, *_ = _QUESTION.unpack(question)
        self.counts[call] = self.counts.get(call, 0) + 1
        answer = bytearray(_ANSWER.pack(number, 0, -errno.EPERM, 0))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _SEND, answer)
        return sum(self.counts.values()) < _MAX_ANSWERS

    def close(self) -> None:
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1


def send_listener(listener: int, channel: int) -> None:
    """Send the listener from the child to the fork server, and close the child's copy."""
    with socket.socket(fileno=os.dup(channel)) as sock:
        socket.send_fds(sock, [b"?"], [listener])
    os.close(listener)
