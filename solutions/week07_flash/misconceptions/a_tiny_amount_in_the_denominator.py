"""Adds a tiny number to the sum before it divides.

Exercise: tiled_attention
Believes: A division needs protection.
Shows: Weights sum to a little less than 1: float64 loses half of its digits.
Hint: After the first block the sum is at least 1. What is there to protect?
Rejected by: test_float_types
Costs: 15 %
Belief: guards_the_denominator
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
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / (total + 1e-8)).to(q.dtype), logsumexp.to(q.dtype)
