"""Line 47. Raises errors with bad text: broken Unicode, terminal escapes, markup, digits that send matchers astray.

Variants: surrogate escape script long lines digits more_digits quotes names null right_to_left loop raises number
Expected: softmax=crashed|timeout|limit
Score at most: softmax=0
"""

_TEXTS = {
    "surrogate": "\udcff\ud800",
    "escape": "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "script": "<script>alert(1)</script>\"'`--><img src=x onerror=alert(1)>",
    "long": "x" * 10**7,
    "lines": "\n" * 10**6,
    "digits": "mat1 and mat2 shapes cannot be multiplied (" + "1" * 40 + " and " + "1" * 40 + "X",
    "more_digits": "operands could not be broadcast together with shapes (" + "1," * 40 + ") (" + "1," * 40 + "x",
    "quotes": "'" * 10**5,
    "names": "'" + "a." * 10**5 + "' object is not callable",
    "null": "\0" * 1000,
    "right_to_left": "\u202e\u2066abc",
}


class Hostile(Exception):
    def __str__(self):
        if VARIANT == "loop":
            while True:
                pass
        if VARIANT == "raises":
            raise SystemExit
        if VARIANT == "number":
            return 5
        return _TEXTS[VARIANT]

    __repr__ = __str__


def softmax(x, dim=-1):
    raise Hostile(_TEXTS.get(VARIANT, ""))
