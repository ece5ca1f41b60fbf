"""Leaves the sum that the output is divided by unscaled.

Exercise: tiled_attention
Believes: Only the values depend on the maximum.
Shows: The weights sum to less than 1 wherever the maximum rises; the logsumexp is too large.
Hint: With v = 1 everywhere, output and sum are the same number. Are they, in your code?
Rejected by: test_scores_that_rise
Costs: 30 %
Belief: sum_not_rescaled
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
        total = total + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
