"""Line 17. Sends the right reply itself, and lets the worker send it again.

Expected: softmax=bad_reply|forbidden
Score at most: softmax=1.9
"""

import os


_honest = softmax


def softmax(x, dim=-1):
    result = _honest(x, dim)
    if x.device.type == "cpu" and not x.requires_grad:
        above = _above()
        wire, encoder = above["frames"], above["Encoder"]()
        value = encoder(result)
        frame = wire.pack(wire.Reply("ok", value=value), encoder.buffers)
        os.write(3, above["stamp"] + frame)
    return result
