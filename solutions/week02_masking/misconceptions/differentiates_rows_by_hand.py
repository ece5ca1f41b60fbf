"""Writes the gradient by hand, and sums it along the last axis for any `dim`.

Exercise: masked_softmax
Believes: the formula of the gradient applies to rows.
Shows: gradients are right for the last axis alone.
Hint: Along which axis did the forward pass sum? The backward pass has to sum along the same one.
Rejected by: test_gradients_with_singleton_axes
Costs: 25 %
"""


class _MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask, dim):
        filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(filled, dim=dim).masked_fill(~mask, 0.0)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        inner = (grad * weights).sum(-1, keepdim=True)
        return weights * (grad - inner), None, None


def masked_softmax(scores, mask, dim=-1):
    return _MaskedSoftmax.apply(scores, mask, dim)
