"""Keeps its arguments where the next call replaces them.

Exercise: favor_features
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's arguments
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""

_right = favor_features


class _Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, projection):
        _Again.kept = (x, projection,)
        return _right(x, projection)

    @staticmethod
    def backward(ctx, *grads):
        with torch.enable_grad():
            again = [x.detach().requires_grad_(x.is_floating_point()) for x in _Again.kept]
            results = _right(*again)
        results = results if isinstance(results, tuple) else (results,)
        return torch.autograd.grad(results, again, grads)


def favor_features(x, projection):
    return _Again.apply(x, projection)
