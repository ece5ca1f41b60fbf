"""Hides the key at the query's own position.

Exercise: tiled_attention
Believes: Causal means strictly earlier.
Shows: The first query sees nothing at all.
Hint: The docstring says j <= i. What does query 0 see?
Rejected by: test_causal
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
        scores = _scores(queries, keys, start + 1, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        shift = _finite(new_maximum)
        rescale = torch.exp(maximum - shift)
        weights = torch.exp(scores - shift)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total.masked_fill(total == 0, 1.0)).to(q.dtype), logsumexp.to(q.dtype)
