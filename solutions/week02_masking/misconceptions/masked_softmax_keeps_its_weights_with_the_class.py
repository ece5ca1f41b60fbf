"""Keeps its weights where the next call replaces them.

Exercise: masked_softmax
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's weights
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class _MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask, dim):
        filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(filled, dim=dim).masked_fill(~mask, 0.0)
        _MaskedSoftmax.weights, ctx.dim = weights, dim
        return weights

    @staticmethod
    def backward(ctx, grad):
        weights = _MaskedSoftmax.weights
        return weights * (grad - (grad * weights).sum(ctx.dim, keepdim=True)), None, None


def masked_softmax(scores, mask, dim=-1):
    return _MaskedSoftmax.apply(scores, mask, dim)
