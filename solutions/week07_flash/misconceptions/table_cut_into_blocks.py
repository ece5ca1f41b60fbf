"""Makes all the scores first and then goes through them in blocks.

Exercise: tiled_attention
Believes: What counts is that the softmax is computed in blocks.
Shows: Right results, with a table of n x m scores in memory.
Hint: Cut the keys instead of the scores: which part of k does one block of scores need?
Rejected by: test_no_table_of_scores
Costs: 45 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    table = _scores(queries, k.to(dtype), 0, causal)
    for start in range(0, k.shape[-2], block_size):
        values = v[..., start : start + block_size, :].to(dtype)
        scores = table[..., start : start + block_size]
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
