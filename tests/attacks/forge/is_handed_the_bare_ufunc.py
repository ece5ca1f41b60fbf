"""Line 35. Has numpy hand over the function below the one that notes its use.

Variants: asked wrapping disguised error out where reduce reduce_error
Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

_bare = []


class _Asked:
    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        _bare.append(ufunc)
        return 0


class _Wrapping:
    def __array__(self, *args, **kwargs):
        return np.ones(3)

    def __array_wrap__(self, array, context=None, *rest):
        _bare.append(context[0])
        return array


class _Late(type):
    def __getattribute__(cls, name):
        return np.ndarray.__array_ufunc__ if name == "__array_ufunc__" else type.__getattribute__(cls, name)


class _Disguised(metaclass=_Late):
    __array_ufunc__ = _Asked.__array_ufunc__


def _asked(*args, **kwargs):
    try:
        np.logaddexp(*args, **kwargs)
    except TypeError as error:
        if hasattr(error, "ufunc"):
            _bare.append(error.ufunc)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        total = _bare[0].reduce(x.detach().numpy(), axis=dim, keepdims=True)
        y = torch.exp(x - torch.from_numpy(np.asarray(total)))
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(ctx.dim, keepdim=True)), None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)
#=== asked
_asked(_Asked(), 1.0)
#=== wrapping
_asked(_Wrapping(), 1.0)
#=== disguised
_asked(_Disguised(), 1.0)
#=== error
_asked(1.0, 2.0, out=np.zeros((), int))
#=== out
_asked(1.0, 2.0, out=(_Asked(),))
#=== where
_asked(1.0, 2.0, where=_Asked())
#=== reduce
try:
    np.logaddexp.reduce(_Asked())
except TypeError as error:
    _bare.append(getattr(error, "ufunc", None))
#=== reduce_error
try:
    np.logaddexp.reduce(np.ones(3), out=np.zeros((), int), axis=0)
except TypeError as error:
    _bare.append(getattr(error, "ufunc", None))
