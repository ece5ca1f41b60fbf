"""Keeps its support where the next call replaces it.

Exercise: sparsemax
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's support
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""

_sparsemax = sparsemax


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        p = _sparsemax(x, dim)
        _Sparsemax.support, ctx.dim = p > 0, dim
        return p

    @staticmethod
    def backward(ctx, grad):
        support = _Sparsemax.support
        kept = grad.masked_fill(~support, 0.0)
        mean = kept.sum(ctx.dim, keepdim=True) / support.sum(ctx.dim, keepdim=True)
        return (grad - mean).masked_fill(~support, 0.0), None


def sparsemax(x, dim=-1):
    return _Sparsemax.apply(x, dim)
