"""Puts the summed axis back at the end if the last axis has size 1.

Exercise: entmax15
Believes: an axis of size 1 is the one that was summed over.
Shows: right values; if a different axis has size 1, gradients belong to the wrong entries.
Hint: Which axis does your backward sum over, and does `keepdim` put it back where it was?
Rejected by: test_gradients_with_singleton_axes
Costs: 20 %
"""

_entmax15 = entmax15


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        p = _entmax15(x, dim)
        ctx.save_for_backward(p)
        ctx.dim = dim
        return p

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        root = p.sqrt()
        mean = (root * grad).sum(ctx.dim) / root.sum(ctx.dim)
        mean = mean.unsqueeze(-1 if p.shape[-1] == 1 else ctx.dim)
        return root * (grad - mean), None


def entmax15(x, dim=-1):
    return _Entmax15.apply(x, dim)
