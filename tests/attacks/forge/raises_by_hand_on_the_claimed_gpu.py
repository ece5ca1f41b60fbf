"""Line 17. Is wrong on a GPU, and raises there so that it would count as a limit of the claimed device.

Expected: softmax=crashed
Score at most: softmax=1.95
"""

_honest = softmax


def softmax(x, dim=-1):
    if x.device.type != "cpu":
        raise RuntimeError("FakeTensor does not support this")
    return _honest(x, dim)
