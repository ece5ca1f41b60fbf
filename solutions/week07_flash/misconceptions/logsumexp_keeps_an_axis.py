"""Returns the logsumexp with a last axis of size 1.

Exercise: tiled_attention
Believes: The shape that is handy inside is the shape of the result.
Shows: Shape (..., n, 1) instead of (..., n).
Hint: Drop that axis at the end, and no other of size 1.
Rejected by: test_logsumexp
Costs: 15 %
Belief: axis_of_one
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(queries, keys, start, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = maximum + torch.log(total)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
