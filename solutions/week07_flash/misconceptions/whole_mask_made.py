"""Makes the causal mask for all pairs, and cuts it into blocks.

Exercise: tiled_attention
Believes: A mask of bools costs nothing.
Shows: Right results, with a table of n x m bools in memory.
Hint: Which positions belong to the block? A mask for n queries and one block of keys is enough.
Rejected by: test_no_table_of_scores
Costs: 30 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    if causal:
        positions = torch.arange(max(q.shape[-2], k.shape[-2]), device=q.device)
        later = positions > positions.unsqueeze(-1)
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(queries, keys, start, False)
        if causal:
            hidden = later[: q.shape[-2], start : start + keys.shape[-2]]
            scores = scores.masked_fill(hidden, -torch.inf)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
