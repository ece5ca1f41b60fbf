"""Line 17. Claims on the CPU that a test cannot be run, which would cost nothing.

Variants: frame patch words
Expected: softmax=bad_reply|crashed|not_run|forbidden
Score at most: softmax=0
"""

import os


def _stamp():
    return _above()["stamp"]


def softmax(x, dim=-1):
    if VARIANT == "frame":
        packer = _above()["frames"]
        os.write(3, _stamp() + packer.pack(packer.Reply("not_run"), []))
        os._exit(0)
    if VARIANT == "patch":
        devices = _above()["devices"]
        devices.is_limitation = lambda error: True
        devices.FAKE = "cpu"
        raise RuntimeError("aten::")
    raise RuntimeError("aten:: backend PrivateUse1")
