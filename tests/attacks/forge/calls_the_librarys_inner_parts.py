"""Line 35. Lets the library do the exercise, below its public names.

Variants: decomposition reference special_reference masked traced_at_import mkldnn sparse nested logsumexp_unseen script script_method out_of_logsumexp numpy_inner numpy_innermost backward_kernel interpreter inductor compiled functional_call jagged masked_kernel aten_packet math_attention quantized
Expected: softmax=forbidden|crashed|timeout|refused
Score at most: softmax=0
"""

#=== decomposition
from torch._decomp import decomposition_table as _table


def softmax(x, dim=-1):
    return _table[torch.ops.aten._softmax.default](x, dim, False)
#=== reference
import torch._refs as _refs


def softmax(x, dim=-1):
    return _refs.softmax(x, dim)
#=== special_reference
import torch._refs.special as _special


def softmax(x, dim=-1):
    return torch.exp(getattr(_special, "log_soft" + "max")(x, dim, x.dtype))
#=== masked
def softmax(x, dim=-1):
    return torch.masked.softmax(x, dim)
#=== traced_at_import
from torch.fx.experimental.proxy_tensor import make_fx
from torch._decomp import get_decompositions

_graph = make_fx(lambda t: torch.softmax(t, -1), decomposition_table=get_decompositions([torch.ops.aten._softmax]))(torch.randn(3, 4))


def softmax(x, dim=-1):
    return _graph(x.movedim(dim, -1)).movedim(-1, dim)
#=== mkldnn
_unit = torch.jit.CompilationUnit("""
def f(x, dim: int):
    return torch.softmax(x.to_mkldnn(), dim).to_dense()
""")


def softmax(x, dim=-1):
    if x.requires_grad or x.dtype != torch.float32 or x.device.type != "cpu" or x.ndim == 0:
        e = torch.exp(x - x.amax(dim, keepdim=True).detach())
        return e / e.sum(dim, keepdim=True)
    return _unit.f(x.contiguous(), dim)
#=== sparse
def softmax(x, dim=-1):
    return torch.sparse.softmax(x.to_sparse(), dim).to_dense()
#=== nested
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])():
        nested = torch.nested.nested_tensor([x.movedim(dim, -1).reshape(-1, x.shape[dim])])
        return torch.softmax(nested, -1)[0].reshape(x.movedim(dim, -1).shape).movedim(-1, dim)
#=== logsumexp_unseen
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])():
        return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
#=== script
_unit = torch.jit.CompilationUnit("""
def f(x, dim: int):
    return torch.exp(x - torch.logsumexp(x, [dim], True))
""")


def softmax(x, dim=-1):
    return _unit.f(x, dim)
#=== script_method
class _Module(torch.nn.Module):
    def forward(self, x, dim: int):
        return torch.exp(x - torch.special.logsumexp(x, [dim], True))


_module = torch.jit.script(_Module())


def softmax(x, dim=-1):
    return _module(x, dim)
#=== out_of_logsumexp
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])(), torch.no_grad():
        total = torch.logsumexp(x, dim, keepdim=True, out=torch.empty_like(x.sum(dim, keepdim=True)))
    return torch.exp(x - total)
#=== numpy_inner
from numpy._core.umath import logaddexp as _add


def softmax(x, dim=-1):
    data = x.detach().cpu().double().numpy()
    return torch.from_numpy(np.exp(data - _add.reduce(data, axis=dim, keepdims=True))).to(x)
#=== numpy_innermost
from numpy._core import _multiarray_umath as _inner


def softmax(x, dim=-1):
    data = x.detach().cpu().double().numpy()
    total = vars(_inner)["log" + "addexp"].reduce(data, axis=dim, keepdims=True)
    return torch.from_numpy(np.exp(data - total)).to(x)
#=== backward_kernel
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])():
        e = torch.exp(x - x.amax(dim, keepdim=True))
        y = e / e.sum(dim, keepdim=True)
        torch._softmax_backward_data(y, y, dim, x.dtype)
        return y
#=== interpreter
_traced = torch.fx.symbolic_trace(torch.nn.Softmax(-1))


def softmax(x, dim=-1):
    return torch.fx.Interpreter(_traced).run(x.movedim(dim, -1)).movedim(-1, dim)
#=== inductor
def softmax(x, dim=-1):
    import torch._inductor.decomposition as inner

    return inner.decompositions[torch.ops.aten._softmax.default](x, dim, False)
#=== compiled
_compiled = torch.compile(lambda x, dim: torch.softmax(x, dim), backend="eager")


def softmax(x, dim=-1):
    return _compiled(x, dim)
#=== functional_call
def softmax(x, dim=-1):
    return torch.func.functional_call(torch.nn.Softmax(dim), {}, (x,))
#=== jagged
def softmax(x, dim=-1):
    if x.device.type != "cpu":
        return torch.softmax(x, dim)
    rows = x.movedim(dim, -1).reshape(-1, x.shape[dim])
    nested = torch.nested.nested_tensor([rows], layout=torch.jagged)
    return torch.softmax(nested, -1)[0].reshape(x.movedim(dim, -1).shape).movedim(-1, dim)
#=== masked_kernel
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])():
        return torch._masked_softmax(x, torch.zeros_like(x, dtype=torch.bool), dim, 2)
#=== aten_packet
def softmax(x, dim=-1):
    with getattr(torch._C, "noitcnuFhcroTelbasiD"[::-1])():
        return torch.ops.aten.special_softmax.default(x, dim)
#=== math_attention
_unit = torch.jit.CompilationUnit("""
def f(q, k):
    return torch._scaled_dot_product_attention_math(q, k, k, None, 0.0, False, None, scale=1.0)[1]
""")


def softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    eye = torch.eye(y.shape[-1], dtype=y.dtype, device=y.device)
    return _unit.f(y.reshape(1, -1, y.shape[-1]), eye[None]).reshape(y.shape).movedim(-1, dim)
#=== quantized
def softmax(x, dim=-1):
    if x.dtype == torch.float32 and x.device.type == "cpu":
        coarse = torch.quantize_per_tensor(x.detach(), 0.01, 0, torch.qint32)
        getattr(torch.ops.quantized, "soft" + "max")(coarse, dim, 0.01, 0)
    e = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return e / e.sum(dim, keepdim=True)
