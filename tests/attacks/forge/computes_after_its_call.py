"""Line 35. Has the library compute once the call is over, while its answer is read.

Variants: detach resolve_neg numpy gradients looked_up deleted
Expected: softmax=forbidden|wrong
Score at most: softmax=0
"""

_done = {name: getattr(torch.Tensor, name) for name in ("detach", "numpy", "resolve_neg")}


def _mine(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


def softmax(x, dim=-1):
    if x.device.type != "cpu" or x.requires_grad:
        return _mine(x, dim)
    y = x * 1.0
    y.later = (x, dim)
    return y


def _replaced(name):
    def read(self, *args):
        if hasattr(self, "later"):
            self = torch.softmax(*self.later)
        return _done[name](self, *args)

    setattr(torch.Tensor, name, read)
#=== detach
_replaced("detach")
#=== resolve_neg
class _Late(torch.Tensor):
    pass


_replaced("resolve_neg")
_first = torch.Tensor.detach
torch.Tensor.detach = lambda self: _carry(self, _first(self))


def _carry(old, new):
    if hasattr(old, "later"):
        new.later = old.later
    return new
#=== numpy
_first = torch.Tensor.detach
torch.Tensor.detach = lambda self: _carry(self, _first(self))


def _carry(old, new):
    if hasattr(old, "later"):
        new.later = old.later
    return new


_last = torch.Tensor.contiguous
torch.Tensor.contiguous = lambda self: _carry(self, _last(self))


def _numpy(self):
    if hasattr(self, "later"):
        self = torch.softmax(*self.later)
    return _done["numpy"](_first(self))


torch.Tensor.numpy = _numpy
#=== gradients
class _Soft(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return _mine(x, dim)

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return torch.autograd.grad(torch.softmax(x, ctx.dim), x, g)[0], None


def softmax(x, dim=-1):
    return _Soft.apply(x, dim)
#=== looked_up
class _Lookup:
    def __call__(self, x, dim=-1):
        return self.answer(x, dim)

    @property
    def answer(self):
        return torch.softmax


softmax = _Lookup()
#=== deleted
class _Last(list):
    def __iter__(self):
        return iter([torch.softmax(*self[0])])


def softmax(x, dim=-1):
    y = _mine(x, dim)
    list(_Last([(x, dim)]))
    return y
