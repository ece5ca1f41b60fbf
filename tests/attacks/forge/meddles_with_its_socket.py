"""Line 17. Does odd things to the one socket that it has, and then answers honestly.

Variants: nonblocking duplicated shut_for_reading shut_for_writing replaced closed urgent
Expected: softmax=pass|crashed|bad_reply|timeout|wrong
Score at most: softmax=2
"""

import os
import socket

_honest = softmax


def softmax(x, dim=-1):
    try:
        if VARIANT == "nonblocking":
            os.set_blocking(3, False)
        if VARIANT == "duplicated":
            [os.dup(3) for _ in range(20)]
        if VARIANT == "replaced":
            os.dup2(1, 3)
        if VARIANT == "closed":
            os.close(3)
        if VARIANT.startswith("shut"):
            how = socket.SHUT_RD if VARIANT.endswith("reading") else socket.SHUT_WR
            socket.socket(fileno=os.dup(3)).shutdown(how)
        if VARIANT == "urgent":
            socket.socket(fileno=os.dup(3)).send(b"x", socket.MSG_OOB)
    except OSError:
        pass
    return _honest(x, dim)
