"""Keeps its positions where the next call replaces them.

Exercise: rotary
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's positions
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""

_rotary = rotary


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, positions, base):
        _Rotary.positions, ctx.base = positions, base
        return _rotary(x, positions, base)

    @staticmethod
    def backward(ctx, grad):
        return _rotary(grad, -_Rotary.positions, ctx.base), None, None  # turned back


def rotary(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    return _Rotary.apply(x, positions, base)
