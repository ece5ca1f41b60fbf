"""Keeps its weights where the next call replaces them.

Exercise: softmax
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's weights
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
        weights = exponentials / exponentials.sum(dim=dim, keepdim=True)
        _Softmax.weights, ctx.dim = weights, dim
        return weights

    @staticmethod
    def backward(ctx, upstream):
        weights = _Softmax.weights
        return weights * (upstream - (weights * upstream).sum(ctx.dim, keepdim=True)), None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)
