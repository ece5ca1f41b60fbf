"""Lines up the last query with the last key.

Exercise: tiled_attention
Believes: The last query always sees everything.
Shows: Right where n = m; otherwise every query sees too many keys, or too few.
Hint: Both are counted from 0: what does query 0 see if there are more keys than queries?
Rejected by: test_causal_with_more_keys_or_queries
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
        scores = _scores(queries, keys, start - k.shape[-2] + q.shape[-2], causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        shift = _finite(new_maximum)
        rescale = torch.exp(maximum - shift)
        weights = torch.exp(scores - shift)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total.masked_fill(total == 0, 1.0)).to(q.dtype), logsumexp.to(q.dtype)
