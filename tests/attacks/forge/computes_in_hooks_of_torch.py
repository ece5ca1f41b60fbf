"""Line 35. Hooks of autograd, modules and saved tensors have the library compute.

Variants: saved gradient module everywhere parametrized checkpoint jvp functional_gradient reconstructed
Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

#=== saved
def softmax(x, dim=-1):
    made = []
    leaf = x.detach().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: made.append(torch.softmax(x, dim)) or t, lambda t: t):
        (leaf * leaf).sum()
    return made[0]
#=== gradient
def softmax(x, dim=-1):
    made = []
    leaf = torch.zeros(1, requires_grad=True)
    leaf.register_hook(lambda g: made.append(torch.softmax(x, dim)))
    (leaf * 2).sum().backward()
    return made[0]
#=== module
class _Layer(torch.nn.Module):
    def forward(self, x):
        return x


_layer = _Layer()
_layer.register_forward_hook(lambda m, a, y: torch.softmax(y, m.dim))


def softmax(x, dim=-1):
    _layer.dim = dim
    return _layer(x)
#=== everywhere
torch.nn.modules.module.register_module_forward_hook(lambda m, a, y: torch.softmax(y, m.dim))


def softmax(x, dim=-1):
    layer = torch.nn.Identity()
    layer.dim = dim
    return layer(x)
#=== parametrized
from torch.nn.utils import parametrize


class _As(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, self.dim)


def softmax(x, dim=-1):
    layer = torch.nn.Module()
    layer.w = torch.nn.Parameter(x.detach())
    other = _As()
    other.dim = dim
    parametrize.register_parametrization(layer, "w", other)
    return layer.w
#=== checkpoint
from torch.utils.checkpoint import checkpoint


def softmax(x, dim=-1):
    return checkpoint(torch.softmax, x, dim, use_reentrant=False)
#=== jvp
def softmax(x, dim=-1):
    return torch.func.jvp(lambda t: torch.softmax(t, dim), (x,), (x,))[0]
#=== functional_gradient
def softmax(x, dim=-1):
    return torch.func.grad(lambda t: torch.logsumexp(t, dim).sum())(x)
#=== reconstructed
def softmax(x, dim=-1):
    return torch.func.functional_call(torch.nn.Softmax(dim), {}, (x,))
