"""Line 17. Writes invalid frames to the grader's socket.

Variants: noise zeros magic text
Expected: softmax=bad_reply|timeout|crashed
Score at most: softmax=0
"""

import os

_JUNK = {
    "noise": os.urandom(4096),
    "zeros": bytes(4096),
    "magic": b"AGK1" * 1000,
    "text": b"HTTP/1.1 200 OK\r\n\r\n" * 50,
}


def softmax(x, dim=-1):
    os.write(3, _JUNK[VARIANT])
    return x
