"""Line 17. Sends forged notices: for others, too many, hostile ones, and ones instead of a reply.

Variants: accuses many hostile with_body nameless instead_of_a_reply after_the_reply
Expected: softmax=forbidden|bad_reply|crashed|wrong
Score at most: softmax=0
"""

import os
import struct


def _send(fields, body=b"", stamp=None):
    header = _above()["msgspec"].msgpack.encode({"message_type": "notice"} | fields)
    data = (stamp or _above()["stamp"]) + b"AGK1" + struct.pack("<IQ", len(header), len(body)) + header + body
    while data:
        data = data[os.write(3, data) :]


def softmax(x, dim=-1):
    if VARIANT == "accuses":
        _send({"kind": "banned", "what": "softmax", "line": 3})
        _send({"kind": "attempt", "what": "kill", "line": None})
    if VARIANT == "many":
        for number in range(100):
            _send({"kind": "attempt", "what": f"kill {number}", "line": number})
    if VARIANT == "hostile":
        _send({"kind": "banned", "what": "\x1b[2J<script>alert(1)</script>" * 3000, "line": 10**9})
    if VARIANT == "with_body":
        _send({"kind": "banned", "what": "softmax", "line": 1}, b"x" * 100)
    if VARIANT == "nameless":
        _send({"kind": "other", "what": 7, "line": -1})
    if VARIANT == "instead_of_a_reply":
        _send({"kind": "attempt", "what": "", "line": None})
        os._exit(0)
    if VARIANT == "after_the_reply":
        header = _above()["msgspec"].msgpack.encode({"message_type": "reply", "status": "ok"})
        os.write(3, _above()["stamp"] + b"AGK1" + struct.pack("<IQ", len(header), 0) + header)
        _send({"kind": "attempt", "what": "kill", "line": None})
    return x
