"""Keeps its arguments where the next call replaces them.

Exercise: performer_attention
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's arguments
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""

_right = performer_attention


class _Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, projection, causal):
        _Again.kept = (q, k, v, projection,)
        ctx.rest = (causal,)
        return _right(q, k, v, projection, causal)

    @staticmethod
    def backward(ctx, *grads):
        with torch.enable_grad():
            again = [x.detach().requires_grad_(x.is_floating_point()) for x in _Again.kept]
            results = _right(*again, *ctx.rest)
        results = results if isinstance(results, tuple) else (results,)
        return (*torch.autograd.grad(results, again, grads), None)


def performer_attention(q, k, v, projection, causal=False):
    return _Again.apply(q, k, v, projection, causal)
