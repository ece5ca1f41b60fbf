"""Returns a logarithm to the base 2.

Exercise: tiled_attention
Believes: Powers of two are faster, and the result is the same.
Shows: The logsumexp is too large by the factor 1/log(2).
Hint: Base 2 inside is fine. Which number takes a logarithm from base 2 to base e?
Rejected by: test_logsumexp
Costs: 20 %
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
    logsumexp = (maximum / math.log(2) + torch.log2(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
