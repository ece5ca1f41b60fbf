"""Writes the gradient by hand, for rows even if `dim` is a different axis.

Exercise: sparsemax
Believes: the formula of the gradient applies to rows.
Shows: gradients are right for the last axis alone.
Hint: Over which axis is the support counted in the backward pass? It is the one of the forward
    pass.
Rejected by: test_gradients_with_singleton_axes
Costs: 25 %
"""


_forward_of_sparsemax = sparsemax


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        p = _forward_of_sparsemax(x, dim)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        support = (p > 0).to(grad.dtype)
        mean = (grad * support).sum(-1, keepdim=True) / support.sum(-1, keepdim=True).clamp(min=1)
        return support * (grad - mean), None


def sparsemax(x, dim=-1):
    return _Sparsemax.apply(x, dim)
