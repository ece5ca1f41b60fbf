"""Uses p(1 - p) for the gradient, as for a sigmoid, and leaves out what the entries do to each
other.

Exercise: softmax
Believes: the derivative of a softmax is that of a sigmoid.
Shows: right values; the Jacobian has nothing off its diagonal.
Hint: Nudge one score by hand: which of the weights move? torch can find the derivative for you.
Rejected by: test_gradients
Costs: 35 %
"""


class _EntryByEntry(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
        weights = exponentials / exponentials.sum(dim=dim, keepdim=True)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, upstream):
        (weights,) = ctx.saved_tensors
        return upstream * weights * (1 - weights), None


def softmax(x, dim=-1):
    return _EntryByEntry.apply(x, dim)
