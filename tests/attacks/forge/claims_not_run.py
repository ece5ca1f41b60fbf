"""Line 17. Claims on the CPU that a test cannot be run, which would cost nothing.

Variants: frame patch words
Expected: softmax=bad_reply|crashed|not_run
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


def softmax(x, dim=-1):
    if VARIANT == "frame":
        packer = __builtins__["__imp" + "ort__"]("work" + "er.wire", fromlist=["x"])
        os.write(3, _stamp() + packer.pack(packer.Reply("not_run"), []))
        os._exit(0)
    if VARIANT == "patch":
        devices = __builtins__["__imp" + "ort__"]("work" + "er.devices", fromlist=["x"])
        devices.is_limitation = lambda error: True
        devices.FAKE = "cpu"
        raise RuntimeError("aten::")
    raise RuntimeError("aten:: backend PrivateUse1")
