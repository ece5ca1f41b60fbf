"""Line 24. Answers objects that claim to equal anything.

Variants: object class number list pretender text
Expected: softmax=bad_reply|wrong|crashed; ascii_heatmap=wrong|bad_reply|crashed
Score at most: softmax=0; ascii_heatmap=0
"""

class Agreeable:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None
    __array_priority__ = 1e9

    def __array__(self, *a, **k):
        return np.ones(7)

    def __array_function__(self, *a, **k):
        return True

    def __array_ufunc__(self, *a, **k):
        return True

    @classmethod
    def __torch_function__(cls, *a, **k):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *a, **k):
        return self

    def __bool__(self):
        return True

    def __float__(self):
        return 0.5

    def __instancecheck__(self, other):
        return True


class Text(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Number(float):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0


class Pretender:
    __class__ = torch.Tensor


def softmax(x, dim=-1):
    return {"object": Agreeable(), "class": Agreeable, "number": Number(1), "list": [Agreeable()], "pretender": Pretender(), "text": Text("x")}[VARIANT]


def ascii_heatmap(weights, tokens, chars=" ", width=6):
    return Text("x")
