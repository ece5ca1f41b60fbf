"""Starts the running maximum at 0.

Exercise: tiled_attention
Believes: The maximum of nothing is 0.
Shows: Right for ordinary scores; 0/0 for queries all of whose scores are far below zero.
Hint: All exponentials of a row may underflow. With which start is one of them always exp(0)?
Rejected by: test_very_negative_scores
Costs: 20 %
Belief: maximum_started_at_zero
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.zeros_like(queries[..., :1])
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
