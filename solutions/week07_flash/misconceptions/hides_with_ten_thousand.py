"""Hides keys with a finite score such as -1e4.

Exercise: tiled_attention
Believes: No score is as low as -1e4.
Shows: Queries with very negative scores attend to hidden keys.
Hint: For any number you choose, a score can be lower. Which one is lower than all?
Rejected by: test_very_negative_scores
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
        scores = _scores(queries, keys, start, False)
        if causal:
            positions = torch.arange(start, start + keys.shape[-2], device=q.device)
            hidden = positions > torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
            scores = scores.masked_fill(hidden, -1e4)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
