"""Computes in float32 even where the inputs are float64.

Exercise: tiled_attention
Believes: float32 is wide enough for attention.
Shows: Seven right digits in float64.
Hint: No less than float32, but no less than the inputs either: torch.promote_types.
Rejected by: test_float_types
Costs: 15 %
Belief: float32_everywhere
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = torch.float32
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
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
