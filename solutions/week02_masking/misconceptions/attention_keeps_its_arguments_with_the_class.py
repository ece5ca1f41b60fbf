"""Keeps its arguments where the next call replaces them.

Exercise: scaled_dot_product_attention
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's arguments
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, mask):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
        _Attention.kept = q, k, v, weights
        return weights @ v, weights

    @staticmethod
    def backward(ctx, to_output, to_weights):
        q, k, v, weights = _Attention.kept
        to_weights = to_weights + to_output @ v.transpose(-2, -1)
        inner = (weights * to_weights).sum(dim=-1, keepdim=True)
        to_scores = weights * (to_weights - inner) / math.sqrt(q.shape[-1])
        grads = (to_scores @ k, to_scores.transpose(-2, -1) @ q, weights.transpose(-2, -1) @ to_output)
        return *(grad.sum_to_size(x.shape) for grad, x in zip(grads, (q, k, v), strict=True)), None


def scaled_dot_product_attention(q, k, v, mask=None):
    return _Attention.apply(q, k, v, mask)
