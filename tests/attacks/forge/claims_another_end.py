"""Line 17. Replies by hand that a call ended in another way: missing, unwritten, too large, refused.

Variants: missing state too_large unwritten unable counts purity detached
Expected: softmax=crashed|wrong|limit|bad_reply|unwritten|forbidden
Score at most: softmax=0
"""

import os
import struct


def _reply(**fields):
    raised = fields.pop("raised", None)
    if raised is not None:
        fields["raised"] = {"function": None, "source": None, "line": None} | raised
    header = _above()["msgspec"].msgpack.encode({"message_type": "reply"} | fields)
    os.write(3, _above()["stamp"] + b"AGK1" + struct.pack("<IQ", len(header), 0) + header)
    os._exit(0)


def softmax(x, dim=-1):
    if VARIANT == "missing":
        _reply(status="missing")
    if VARIANT == "state":
        _reply(status="state", mismatch={"missing": ["\x1b" * 99] * 99, "unexpected": ["a.b"] * 999, "shapes": []})
    if VARIANT == "too_large":
        _reply(status="too_large", printed="CANARYINPUT 1")
    if VARIANT == "unwritten":
        _reply(status="raised", raised={"type": "NotImplementedError", "bases": ["NotImplementedError"], "message": "", "line": 3})
    if VARIANT == "unable":
        text = "You should register `PrivateUse1HooksInterface` and implement `getNewGenerator`"
        _reply(status="raised", raised={"type": "RuntimeError", "bases": ["RuntimeError"], "message": text})
    if VARIANT == "counts":
        _reply(status="ok", value=None, counts={"flops": -1, "largest": -(2**60), "ops": 2**62, "kept": 0})
    if VARIANT == "purity":
        _reply(status="ok", value=1.0, mutated=["CANARYINPUT 1"] * 99, side_effects=["\x1b[2J"])
    _reply(status="ok", value=1.0, gradients=[], detached=[-1, 2**60])
