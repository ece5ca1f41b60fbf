"""Line 17. Sends the right reply itself, and lets the worker send it again.

Expected: softmax=bad_reply
Score at most: softmax=1.9
"""

import os


def _stamp():
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    while "stamp" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["stamp"]


_honest = softmax


def softmax(x, dim=-1):
    result = _honest(x, dim)
    if x.device.type == "cpu" and not x.requires_grad:
        wire = vars(torch)["serialization"].__builtins__["__imp" + "ort__"]("work" + "er.values", fromlist=["x"])
        encoder = wire.Encoder()
        value = encoder(result)
        frame = wire.wire.pack(wire.wire.Reply("ok", value=value), encoder.buffers)
        os.write(3, _stamp() + frame)
    return result
