"""Line 47. Names of thousands of letters, of letters that fold, normalise or are unbounded, to slow down comparisons.

Variants: class exception bases attribute combining ligature dots sizes arguments
Expected: softmax=crashed|limit|timeout|wrong|bad_reply
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    long = "a" * 5_000_000
    if VARIANT == "class":
        return type(long, (), {})()
    if VARIANT == "exception":
        raise type(long, (ValueError,), {})(long)
    if VARIANT == "bases":
        kind = ValueError
        for number in range(3_000):
            kind = type(f"A{number}", (kind,), {})
        raise kind("no")
    if VARIANT == "attribute":
        return getattr(x, long)
    if VARIANT == "combining":
        raise ValueError("a" + "\u0301" * 1_000_000)
    if VARIANT == "ligature":
        return type("\ufdfa" * 100_000, (), {})()
    if VARIANT == "dots":
        raise AttributeError("'" + "a." * 900 + "' object has no attribute '" + "." * 900 + "'")
    if VARIANT == "sizes":
        raise RuntimeError("shape '[" + "1, " * 600 + "]' is invalid for input of size " + "9" * 100)
    raise TypeError("softmax() missing " + "1 " * 900 + "required positional arguments: " + "'a', " * 300)
