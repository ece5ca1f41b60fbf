"""Writes the gradient by hand, and sums it along the last axis for any `dim`.

Exercise: softmax
Believes: the formula of the gradient applies to rows.
Shows: gradients are right for the last axis alone.
Hint: Along which axis did the forward pass sum? The backward pass has to sum along the same one.
Rejected by: test_gradients_with_singleton_axes
Costs: 25 %
"""


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        exponentials = torch.exp(x - x.amax(dim, keepdim=True))
        weights = exponentials / exponentials.sum(dim, keepdim=True)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        inner = (grad * weights).sum(-1, keepdim=True)
        return weights * (grad - inner), None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)
