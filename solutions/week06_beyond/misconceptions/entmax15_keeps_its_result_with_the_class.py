"""Keeps its result where the next call replaces it.

Exercise: entmax15
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's result does
    the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""

_entmax15 = entmax15


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        p = _entmax15(x, dim)
        _Entmax15.p, ctx.dim = p, dim
        return p

    @staticmethod
    def backward(ctx, grad):
        root = _Entmax15.p.sqrt()
        mean = (root * grad).sum(ctx.dim, keepdim=True) / root.sum(ctx.dim, keepdim=True)
        return root * (grad - mean), None


def entmax15(x, dim=-1):
    return _Entmax15.apply(x, dim)
