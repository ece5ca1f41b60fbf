"""Starts with an output of the shape of the queries.

Exercise: tiled_attention
Believes: Values are as large as queries.
Shows: An error where d_v differs from d.
Hint: The output consists of averaged values. Which tensor knows their size?
Rejected by: test_head_sizes
Costs: 20 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = torch.zeros_like(queries)
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
