"""Line 17. Is wrong on a GPU, and raises there so that it would count as a limit of the claimed device.

Variants: words kind
Expected: softmax=crashed|unwritten|forbidden
Score at most: softmax=1.95
"""

_honest = softmax


def softmax(x, dim=-1):
    if x.device.type != "cpu" and VARIANT == "words":
        raise NotImplementedError("Could not run 'aten::exp' from the backend")
    if x.device.type != "cpu":
        raise _above()["fake_device"].Unclaimable
    return _honest(x, dim)
