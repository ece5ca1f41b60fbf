"""Line 17. Sends replies early, as answers to the next requests.

Expected: softmax=bad_reply|forbidden
Score at most: softmax=0
"""

import os


def _stamp():
    return _above()["stamp"]


_honest = softmax


def softmax(x, dim=-1):
    wire = _above()["frames"]
    Encoder = _above()["Encoder"]

    encoder = Encoder()
    value = encoder(_honest(x.detach(), dim))
    frame = wire.pack(wire.Reply("ok", value=value), encoder.buffers)
    number = int.from_bytes(_stamp(), "little")
    for ahead in range(1, 4):
        os.write(3, ((number + ahead) % 2**64).to_bytes(8, "little") + frame)
    return torch.zeros_like(x)
