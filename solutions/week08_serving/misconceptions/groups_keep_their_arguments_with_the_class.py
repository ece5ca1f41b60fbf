"""Keeps its arguments where the next call replaces them.

Exercise: grouped_query_attention
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's arguments
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
"""

_right = grouped_query_attention


class _Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, mask):
        _Again.kept = (q, k, v,)
        ctx.rest = (mask,)
        return _right(q, k, v, mask)

    @staticmethod
    def backward(ctx, *grads):
        with torch.enable_grad():
            again = [x.detach().requires_grad_(x.is_floating_point()) for x in _Again.kept]
            results = _right(*again, *ctx.rest)
        results = results if isinstance(results, tuple) else (results,)
        return (*torch.autograd.grad(results, again, grads), None)


def grouped_query_attention(q, k, v, mask=None):
    return _Again.apply(q, k, v, mask)
