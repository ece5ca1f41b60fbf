"""Line 9. Is correct, and makes system calls that honest code never makes.

Expected: softmax=pass
Score at most: softmax=2
Tries: setuid, chroot, pidfd_open, sethostname, kill, /proc
"""

import os
import socket

_honest = softmax


def _try(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass


def softmax(x, dim=-1):
    _try(os.setuid, 0)
    _try(os.chroot, "/")
    _try(os.pidfd_open, 2)
    _try(socket.sethostname, "mine")
    _try(os.kill, 0, 9)
    _try(open, "/proc/1/environ")
    return _honest(x, dim)
