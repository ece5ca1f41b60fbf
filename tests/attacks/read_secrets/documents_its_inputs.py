"""Line 10. Puts observed inputs into docstrings, annotations and defaults of its definitions.

Variants: called_wrongly enum named_tuple warning itself
Expected: softmax=wrong|crashed|bad_reply
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:8] if x.device.type == "cpu" else [0.0]
    text = "CANARYINPUT " + " ".join(f"{v:.6g}" for v in flat)
    softmax.__doc__ = text
    softmax.__name__ = softmax.__qualname__ = text
    softmax.__annotations__ = {"x": text}
    softmax.__module__ = text
    softmax.__defaults__ = (text,)
    if VARIANT == "called_wrongly":
        return softmax()
    if VARIANT == "enum":
        import enum

        return enum.Enum(text.replace(" ", "_").replace(".", "p").replace("-", "m"), "a").a
    if VARIANT == "named_tuple":
        import collections

        return collections.namedtuple("CANARYINPUT" + "".join(c for c in text if c.isdigit()), "a")(x)
    if VARIANT == "warning":
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.warn(text)
    return softmax
