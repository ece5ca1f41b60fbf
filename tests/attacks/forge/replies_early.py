"""Line 17. Sends replies before it is asked, so that they would answer the next requests.

Expected: softmax=bad_reply|forbidden
Score at most: softmax=0
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
    wire = __builtins__["__imp" + "ort__"]("work" + "er.wire", fromlist=["x"])
    Encoder = __builtins__["__imp" + "ort__"]("work" + "er.values", fromlist=["x"]).Encoder

    encoder = Encoder()
    value = encoder(_honest(x.detach(), dim))
    frame = wire.pack(wire.Reply("ok", value=value), encoder.buffers)
    number = int.from_bytes(_stamp(), "little")
    for ahead in range(1, 4):
        os.write(3, ((number + ahead) % 2**64).to_bytes(8, "little") + frame)
    return torch.zeros_like(x)
