"""Line 25. Answers tensors of a subclass that lies about itself.

Variants: subclass array masked parameter swapped
Expected: softmax=bad_reply|wrong|crashed
Score at most: softmax=0.34
"""

class Right(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True

    def __eq__(self, other):
        return True

    def numpy(self):
        return np.ones(1)

    def detach(self):
        return self


class Parameter(torch.nn.Parameter):
    pass


def softmax(x, dim=-1):
    if VARIANT == "array":
        class Array(np.ndarray):
            def tobytes(self, *a):
                return b"12345678"

        return np.zeros(3).view(Array)
    if VARIANT == "masked":
        return np.ma.masked_array(np.zeros(3), mask=True)
    if VARIANT == "parameter":
        return Parameter(torch.zeros(x.shape))
    if VARIANT == "swapped":
        y = torch.zeros(x.shape, dtype=x.dtype)
        y.__class__ = Right
        return y
    return torch.zeros_like(x).as_subclass(Right)
