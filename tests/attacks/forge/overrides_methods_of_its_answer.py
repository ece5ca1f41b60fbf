"""Line 25. Returns tensors and arrays with attributes that run code when read.

Variants: detach numpy contiguous requires_grad_ hook dispatched wrapped function_mode subclass_array
Expected: softmax=wrong|crashed|bad_reply|forbidden
Score at most: softmax=0
"""

def _right(x, dim):
    return torch.softmax(x.detach(), dim)


def softmax(x, dim=-1):
    y = torch.zeros_like(x)
    if VARIANT in ("detach", "numpy", "contiguous", "requires_grad_"):
        setattr(y, VARIANT, lambda *a, **k: _right(x, dim))
        return y
    if VARIANT == "hook":
        z = x * 0
        if z.requires_grad:
            z.register_hook(lambda g: _right(x, dim))
        return z
    if VARIANT == "dispatched":

        class Late(torch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return _right(x, dim)

        return torch.Tensor._make_wrapper_subclass(Late, x.shape, dtype=x.dtype)
    if VARIANT == "wrapped":

        class Late(torch.nn.Parameter):
            def detach(self):
                return _right(x, dim)

        return Late(y, requires_grad=False)
    if VARIANT == "function_mode":
        from torch.overrides import TorchFunctionMode

        class Always(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return _right(x, dim) if getattr(func, "__name__", "") == "detach" else func(*args, **(kwargs or {}))

        Always().__enter__()
        return y

    class Late(np.ndarray):
        def tobytes(self, *a):
            return _right(x, dim).numpy().tobytes()

    return y.detach().cpu().numpy().view(Late)
