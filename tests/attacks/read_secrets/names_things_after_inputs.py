"""Line 10. Names exceptions and classes after the inputs, so that feedback would name them.

Variants: exception base object module subclass line tuple
Expected: softmax=crashed|wrong|bad_reply|forbidden
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:6] if x.device.type == "cpu" else [0.0]
    name = "CANARYINPUT" + "".join(f"_{v:.5g}".replace(".", "p").replace("-", "m") for v in flat)
    if VARIANT == "exception":
        raise type(name, (ValueError,), {})("no")
    if VARIANT == "base":
        raise type("Exception", (type(name, (BaseException,), {}),), {})("no")
    if VARIANT == "object":
        return type(name, (), {})()
    if VARIANT == "module":
        return type(name, (torch.nn.Module,), {})()
    if VARIANT == "subclass":
        return x.as_subclass(type(name, (torch.Tensor,), {}))
    if VARIANT == "line":
        builtins = vars(__build_class__.__self__)
        code = builtins["com" + "pile"]("\n" * 123456 + "raise ValueError", __file__, "exec")
        builtins["ex" + "ec"](code)
    return (type(name, (), {})(), x)
