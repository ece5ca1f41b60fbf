"""Line 35. Lets the library do the exercise, by another name.

Variants: alias getattr method functional module operator packet compiled compiled_and_disguised dictionary special log_softmax inner out logsumexp logaddexp partial holder attrgetter jit subclass no_function_mode no_dispatch vmap attention softmin import_time
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

#=== alias
_alias = torch.softmax


def softmax(x, dim=-1):
    return _alias(x, dim)
#=== getattr
def softmax(x, dim=-1):
    return getattr(torch, "soft" + "max")(x, dim)
#=== method
def softmax(x, dim=-1):
    return x.softmax(dim)
#=== functional
import torch.nn.functional as F


def softmax(x, dim=-1):
    return F.softmax(x, dim=dim)
#=== module
def softmax(x, dim=-1):
    return torch.nn.Softmax(dim)(x)
#=== operator
def softmax(x, dim=-1):
    return torch.ops.aten.softmax.int(x, dim)
#=== packet
def softmax(x, dim=-1):
    return getattr(torch.ops.aten, "_soft" + "max")(x, dim, False)
#=== compiled
_code = compile("y = torch.softmax(x, dim)", "<s>", "exec")


def softmax(x, dim=-1):
    scope = {"torch": torch, "x": x, "dim": dim}
    exec(_code, scope)
    return scope["y"]
#=== compiled_and_disguised
def softmax(x, dim=-1):
    scope = {"torch": torch, "x": x, "dim": dim}
    vars(__build_class__.__self__)["ex" + "ec"]("y = torch.soft" + "max(x, dim)", scope)
    return scope["y"]
#=== dictionary
def softmax(x, dim=-1):
    return vars(torch)["soft" "max"](x, dim)
#=== special
def softmax(x, dim=-1):
    return torch.special.softmax(x, dim)
#=== log_softmax
def softmax(x, dim=-1):
    return torch.log_softmax(x, dim).exp()
#=== inner
def softmax(x, dim=-1):
    return torch._softmax(x, dim, False)
#=== out
def softmax(x, dim=-1):
    return torch.softmax(x, dim, out=torch.empty_like(x))
#=== logsumexp
def softmax(x, dim=-1):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
#=== logaddexp
import functools


def softmax(x, dim=-1):
    total = functools.reduce(torch.logaddexp, x.unbind(dim)).unsqueeze(dim)
    return torch.exp(x - total)
#=== partial
import functools


def softmax(x, dim=-1):
    return functools.partial(torch.softmax, dim=dim)(x)
#=== holder
class _Holder:
    call = staticmethod(torch.nn.functional.softmax)


def softmax(x, dim=-1):
    return _Holder.call(x, dim)
#=== attrgetter
import operator


def softmax(x, dim=-1):
    return operator.attrgetter("soft" + "max")(torch)(x, dim)
#=== jit
def softmax(x, dim=-1):
    return torch.jit.trace(lambda t: torch.softmax(t, dim), x, check_trace=False)(x)
#=== subclass
class _Plain(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


def softmax(x, dim=-1):
    return torch.softmax(x.as_subclass(_Plain), dim).as_subclass(torch.Tensor)
#=== no_function_mode
def softmax(x, dim=-1):
    with getattr(torch._C, "Disable" + "TorchFunction")():
        return torch.softmax(x, dim)
#=== no_dispatch
def softmax(x, dim=-1):
    with getattr(torch._C, "_Disable" + "TorchDispatch")():
        return torch._softmax(x, dim, False)
#=== vmap
def softmax(x, dim=-1):
    return torch.func.vmap(lambda t: torch.softmax(t, -1))(x.movedim(dim, -1).reshape(-1, x.shape[dim])).reshape(x.movedim(dim, -1).shape).movedim(-1, dim)
#=== attention
def softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    eye = torch.eye(y.shape[-1], dtype=y.dtype, device=y.device)
    z = torch.nn.functional.scaled_dot_product_attention(y.reshape(1, -1, y.shape[-1]), eye[None], eye[None], scale=1.0)
    return z.reshape(y.shape).movedim(-1, dim)
#=== softmin
def softmax(x, dim=-1):
    return torch.nn.functional.softmin(-x, dim)
#=== import_time
_f = [getattr(torch.Tensor, n) for n in dir(torch.Tensor) if n == "soft" + "max"][0]


def softmax(x, dim=-1):
    return _f(x, dim)
