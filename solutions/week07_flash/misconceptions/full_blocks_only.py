"""Takes every block to be full, and fails where the last one is shorter.

Exercise: tiled_attention
Believes: The block size divides the number of keys.
Shows: An error as soon as it does not.
Hint: Slices may reach beyond the end: x[8:12] of 11 rows has 3 rows.
Rejected by: test_last_block_is_shorter
Costs: 20 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block_size := min(block_size, k.shape[-2])):
        keys, values = (
            x.to(dtype).unflatten(-2, (-1, block_size))[..., start // block_size, :, :]
            for x in (k, v)
        )
        scores = _scores(queries, keys, start, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
