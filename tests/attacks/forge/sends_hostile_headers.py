"""Line 27. Sends frames with headers that are too large, contradictory or endless.

Variants: huge_header huge_body huge_tensor overlap expanded depth deeper duplicates unknown zero_axes strides negative integer big_integer mapping bool buffers text gradients
Expected: softmax=bad_reply|wrong|crashed|forbidden
Score at most: softmax=0
"""

import os


def _stamp():
    return _above()["stamp"]


import struct


def _send(header, body=b""):
    os.write(3, _stamp())
    data = b"AGK1" + struct.pack("<IQ", len(header), len(body)) + header + body
    while data:
        data = data[os.write(3, data) :]
    os._exit(0)


def softmax(x, dim=-1):
    msgpack = _above()["msgspec"].msgpack
    head = {"message_type": "reply", "status": "ok"}
    T, A, S = "t", "a", "s"
    if VARIANT == "huge_header":
        os.write(3, _stamp() + b"AGK1" + struct.pack("<IQ", 2**32 - 1, 0))
    if VARIANT == "huge_body":
        os.write(3, _stamp() + b"AGK1" + struct.pack("<IQ", 10, 2**63))
    if VARIANT == "huge_tensor":
        _send(msgpack.encode(head | {"value": [T, "float32", [2**31, 2**31], None, "cpu", 0, False], "buffers": [4]}), b"1234")
    if VARIANT == "overlap":
        many = [[A, "uint8", [1] * (n % 15) + [1 << 20], 0, bool(n % 2)] for n in range(4_000)]
        _send(msgpack.encode(head | {"value": [S, "list", many], "buffers": [1 << 20]}), bytes(1 << 20))
    if VARIANT == "expanded":
        one = [T, "uint8", [1 << 27, 1], [0, 0], "cpu", 0, False]
        _send(msgpack.encode(head | {"value": [S, "list", [one] * 1000], "buffers": [1]}), b"1")
    if VARIANT == "depth":
        value = None
        for _ in range(450):
            value = [S, "list", [value]]
        _send(msgpack.encode(head | {"value": value}))
    if VARIANT == "deeper":
        _send(msgpack.encode(head)[:-1] + b"\x93\xa1s\xa4list\x91" * 400_000)
    if VARIANT == "duplicates":
        header = b"\x84" + msgpack.encode("message_type") + msgpack.encode("reply") + (msgpack.encode("status") + msgpack.encode("ok")) * 2
        _send(header + msgpack.encode("status") + msgpack.encode("not_run"))
    if VARIANT == "unknown":
        _send(msgpack.encode(head | {"score": 2.0, "verdict": "pass"}))
    if VARIANT == "zero_axes":
        _send(msgpack.encode(head | {"value": [T, "float32", [0, 2**63 - 1, 2**63 - 1], None, "cpu", None, False]}))
    if VARIANT == "strides":
        _send(msgpack.encode(head | {"value": [T, "float32", [1, 1], [2**64 - 1, -1], "cpu", 0, False], "buffers": [4]}), b"1234")
    if VARIANT == "negative":
        _send(msgpack.encode(head | {"value": [T, "float32", [-1, -4], None, "cpu", -1, False], "buffers": [-4, 8]}), b"1234")
    if VARIANT == "integer":
        _send(msgpack.encode(head | {"value": ["i", "--5"]}))
    if VARIANT == "big_integer":
        _send(msgpack.encode(head | {"value": ["i", "9" * 400]}))
    if VARIANT == "mapping":
        _send(msgpack.encode(head | {"value": ["m", ["a", 1, "b"], [None]]}))
    if VARIANT == "bool":
        _send(msgpack.encode(head | {"value": [T, "bool", [7], None, "cpu", 0, False], "buffers": [7]}), b"\x02\xff" * 3 + b"1")
    if VARIANT == "buffers":
        _send(msgpack.encode(head | {"buffers": [0] * 100_000}))
    if VARIANT == "text":
        _send(msgpack.encode(head | {"printed": "x"})[:-1] + b"\xff")
    if VARIANT == "gradients":
        _send(msgpack.encode(head | {"value": None, "gradients": ["x", [S, "list", []]], "detached": [0] * 1000}))
    os._exit(0)
