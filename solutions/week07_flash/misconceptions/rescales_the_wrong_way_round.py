"""Rescales earlier results in the wrong direction when the maximum rises.

Exercise: tiled_attention
Believes: A larger maximum makes old results larger.
Shows: Early blocks drown out all others where the maximum rises.
Hint: Results that refer to a larger maximum are smaller. Try two keys with scores 0 and 5, a block
    each.
Rejected by: test_scores_that_rise
Costs: 30 %
Belief: rescales_upside_down
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
        rescale = torch.exp(new_maximum - maximum).nan_to_num(posinf=0.0)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
