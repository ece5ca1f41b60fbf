"""Keeps its weights where the next call replaces them.

Exercise: logsumexp
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's weights
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        largest = x.amax(dim=dim, keepdim=True)
        largest = torch.where(torch.isfinite(largest), largest, torch.zeros_like(largest))
        exponentials = torch.exp(x - largest)
        total = exponentials.sum(dim=dim, keepdim=True)
        _LogSumExp.weights = exponentials / total
        return total.log() + largest

    @staticmethod
    def backward(ctx, upstream):
        return _LogSumExp.weights * upstream, None


def logsumexp(x, dim=-1, keepdim=False):
    result = _LogSumExp.apply(x, dim)
    return result if keepdim else result.squeeze(dim)
