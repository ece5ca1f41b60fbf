"""Line 10. Encodes inputs in words and lines of its source that feedback may repeat.

Variants: attribute module arguments suggestion unpack key
Expected: softmax=crashed|wrong
Score at most: softmax=0
"""

CANARYINPUT_0 = CANARYINPUT_1 = CANARYINPUT_2 = CANARYINPUT_3 = CANARYINPUT_4 = None
CANARYINPUT_5 = CANARYINPUT_6 = CANARYINPUT_7 = CANARYINPUT_8 = CANARYINPUT_9 = None


class _Names:
    pass


def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:4] if x.device.type == "cpu" else [0.0]
    digits = [c for v in flat for c in f"{v:.6g}" if c.isdigit()]
    path = ".".join(f"INPUT_{d}" for d in digits)
    if VARIANT == "attribute":
        raise AttributeError(f"'{path}' object has no attribute '{path}'")
    if VARIANT == "module":
        raise ModuleNotFoundError(f"No module named '{path}'")
    if VARIANT == "arguments":
        raise TypeError("softmax() missing 3 required positional arguments: " + " and ".join(f"'INPUT_{d}'" for d in digits))
    if VARIANT == "suggestion":
        raise NameError(f"name 'INPUT_{digits[0]}' is not defined. Did you mean: '{path}'?")
    if VARIANT == "unpack":
        raise ValueError(f"too many values to unpack (expected {''.join(digits)})")
    raise KeyError("".join(digits))
