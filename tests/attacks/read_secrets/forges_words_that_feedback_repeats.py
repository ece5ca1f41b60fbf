"""Line 11. Writes its own reply frames with the inputs in every field that is text.

Variants: mutated effects banned opaque handle device dtype mismatch raised missing shape mapping
Expected: softmax=bad_reply|wrong|crashed|forbidden
Score at most: softmax=0
"""

import os


def _forge(x, **fields):
    wire = _above()["frames"]

    stamp = _above()["stamp"]
    os.write(3, stamp + wire.pack(wire.Reply(**fields), []))
    os._exit(0)


def softmax(x, dim=-1):
    wire = _above()["frames"]

    text = "CANARYINPUT " + " ".join(f"{v:.6g}" for v in (x.flatten().tolist()[:40] if x.device.type == "cpu" else []))
    word = "CANARYINPUT" + "".join(c for c in text if c.isalnum())
    if VARIANT == "mutated":
        seen = wire.SideEffect(wire.Effect.TENSOR, 10**9 + int(abs(x.flatten()[0]) * 10**6))
        _forge(x, status="ok", value=None, side_effects=(seen,))
    if VARIANT == "effects":
        _forge(x, status="ok", value=None, side_effects=(text,))
    if VARIANT == "banned":
        _forge(x, status="ok", value=None, banned=(wire.Banned(word + "softmax", 10**9 + 7),))
    if VARIANT == "opaque":
        _forge(x, status="ok", value=wire.OpaqueV(text))
    if VARIANT == "handle":
        _forge(x, status="ok", value=wire.HandleV(0, text, {text: (text, (1, 2))}))
    if VARIANT == "device":
        _forge(x, status="ok", value=wire.TensorV("float32", tuple(x.shape), None, text, None))
    if VARIANT == "dtype":
        _forge(x, status="ok", value=wire.TensorV(text, tuple(x.shape), None, "cpu", None))
    if VARIANT == "mismatch":
        names = wire.StateMismatch((text, word), (text, word), ((word, (123456789,), (987654321,)),))
        _forge(x, status="state", mismatch=names)
    if VARIANT == "raised":
        _forge(x, status="raised", raised=wire.Raised(word, (word, text), text, 10**9 + 7))
    if VARIANT == "missing":
        _forge(x, status="missing", raised=wire.Raised(word, (word,), text, 10**9 + 7))
    if VARIANT == "shape":
        _forge(x, status="ok", value=wire.TensorV("float32", (123456789, 0, 987654321), None, "cpu", None))
    _forge(x, status="ok", value=wire.MapV((text, word), (text, text)), printed=text)
