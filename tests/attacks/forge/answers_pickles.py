"""Line 26. Answers objects whose unpickling would run code, object arrays and records.

Variants: object array record dates void text bytes long
Expected: softmax=bad_reply|wrong
Score at most: softmax=0
"""

import os


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/attack-was-here",)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


def softmax(x, dim=-1):
    return {
        "object": Payload(),
        "array": np.array([Payload()], dtype=object),
        "record": np.zeros(3, dtype=[("a", "f4"), ("b", "O")]),
        "dates": np.zeros(3, dtype="M8[s]"),
        "void": np.void(b"abc"),
        "text": np.array(["abc"]),
        "bytes": b"cos\nsystem\n(S'touch /tmp/attack-was-here'\ntR.",
        "long": np.zeros(3, dtype=np.longdouble),
    }[VARIANT]
