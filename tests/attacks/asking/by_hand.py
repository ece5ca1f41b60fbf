"""Forge stub calls to the trusted process while the reference softmax is available.

The test prepends MODE and ATTENTION. It returns correct values if a forbidden call is answered.
"""

import struct


def _packed(x):
    if x is None or isinstance(x, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[x]
    if isinstance(x, int):
        return b"\xd3" + struct.pack(">q", x) if x < 2**63 else b"\xcf" + struct.pack(">Q", x)
    if isinstance(x, float):
        return b"\xcb" + struct.pack(">d", x)
    if isinstance(x, str):
        return b"\xdb" + struct.pack(">I", len(x.encode())) + x.encode()
    if isinstance(x, (list, tuple)):
        return b"\xdd" + struct.pack(">I", len(x)) + b"".join(map(_packed, x))
    pairs = b"".join(_packed(k) + _packed(v) for k, v in x.items())
    return b"\xdf" + struct.pack(">I", len(x)) + pairs


def _question(helper="softmax", body=None, **fields):
    body = FOUR if body is None else body
    fields = {"args": [ROW], "buffers": [len(body)]} | fields
    header = _packed({"message_type": "stub_call", "helper": helper} | fields)
    return struct.pack("<4sIQ", b"AGK1", len(header), len(body)) + header + body


def _reply(**fields):
    header = _packed({"message_type": "reply", "status": "ok"} | fields)
    return struct.pack("<4sIQ", b"AGK1", len(header), 0) + header


def _cells(function):
    """Return the objects that a function of the worker closes over, by the name of their type."""
    cells = getattr(function, "__erusolc__"[::-1])
    values = [getattr(cell, "_".join(("cell", "contents"))) for cell in cells]
    return {type(value).__name__.strip("_").lower(): value for value in values}


def _send(ask, *frames):
    found = _cells(ask)
    found["outbox"]._sock.sendall(b"".join(found["notices"].stamp + frame for frame in frames))


def _receive(ask):
    return _cells(ask)["inbox"].take_reply()


def _ask(ask, *args, **fields):
    _send(ask, _question(*args, **fields))
    return _receive(ask)


def _tensor(dtype="float32", shape=(4,), strides=None, device="cpu", buffer=0):
    return ["t", dtype, list(shape), strides, device, buffer, False]


def _nested(depth):
    return 1 if depth == 0 else ["s", "list", [_nested(depth - 1)]]


ROW, FOUR = _tensor(), struct.pack("<4f", 1, 2, 3, 4)
WIDE = {"args": [_tensor(shape=(1 << 22,), strides=[0])], "body": FOUR[:4]}
SQUARE = _tensor(shape=(2, 2))
NOT_LENT = ("logsumexp", "softmax.__code__", "softmax.__globals__", "torch.save", "math", "")
MODES = {
    "what_is_lent": lambda a: [_ask(a)],
    "what_is_not_lent": lambda a: [
        _ask(a, ATTENTION, args=[SQUARE] * 3),
        *(_ask(a, name) for name in NOT_LENT),
    ],
    "large_numbers": lambda a: [
        _ask(a, args=[ROW, n]) for n in (1 << 16, -(1 << 40), 2**63, True, 1.5, float("nan"), "x" * 99)
    ],
    "large_views": lambda a: [
        _ask(a, args=[_tensor(shape=s, strides=t)])
        for s, t in (((1 << 20, 1 << 20), [0, 0]), ((4,), [-1]), ((4,), [1 << 62]), ((0, 1 << 40), None))
    ],
    "devices": lambda a: [
        _ask(a, args=[_tensor(device=d, buffer=b)])
        for d, b in (("meta", None), ("cuda", 0), ("fake_gpu", 0), ("nowhere", 0), ("cpu", 1), ("cpu", -1))
    ],
    "objects": lambda a: [
        _ask(a, args=[x]) for x in (["h", 0, "x", None], ["o", "x"], ["x", "generator", 3], ["x", "axes", None])
    ],
    "depth": lambda a: [_ask(a, args=[_nested(n)]) for n in (10, 40)],
    "too_much_depth": lambda a: _ask(a, args=[_nested(900)]),
    "making": lambda a: [_ask(a, making=[[1 << 16, 1 << 16], {}], called=c) for c in (True, False)],
    "state": lambda a: [_ask(a, making=[[ROW], {}], state=s) for s in (ROW, ["m", ["x"], [ROW]])],
    "cotangents": lambda a: [_ask(a, cotangents=[c] * n) for c, n in ((ROW, 1000), (1, 1), ("x", 1))],
    "random": lambda a: [_ask(a, random=r) for r in (1, ROW, _tensor("uint8", (5056,), [0]))],
    "buffers": lambda a: _ask(a, buffers=[-16, 32]),
    "another_field": lambda a: _ask(a, exec="1"),
    "often": lambda a: [_ask(a) for _ in range(1000)],
    "often_and_unread": lambda a: _send(a, *[_question()] * 1000),
    "for_ever": lambda a: [_ask(a, **WIDE) for _ in iter(int, 1)],
    "two_at_once": lambda a: (_send(a, _question(), _question()), _receive(a)),
    "with_a_reply": lambda a: _send(a, _question(), _reply(value=1)),
    "after_a_reply": lambda a: _send(a, _reply(value=1), _question()),
    "with_another_stamp": lambda a: _cells(a)["outbox"]._sock.sendall(bytes(8) + _question()),
    "a_long_header": lambda a: _ask(a, args=["x" * (1 << 18)]),
}


def softmax(x, dim=-1):
    e = x.exp()
    return e / e.sum()


def scaled_dot_product_attention(q, k, v):
    lent = (softmax.__kwdefaults__ or {}).get("_stub")
    softmax(q)
    if lent is not None and MODE:
        found = MODES[MODE](_cells(lent)["function"])
        if MODE.startswith("what_is") and any(reply.status == "ok" for reply, _ in found):
            weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).exp()
            weights = weights / weights.sum(-1, keepdim=True)
            return weights @ v, weights
    return q * 0, q * 0
