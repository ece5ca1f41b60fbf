"""Compares positions counted from the start of the block.

Exercise: tiled_attention
Believes: The mask of a block is a triangle.
Shows: Only the first block is right: keys of later blocks are seen too early.
Hint: Number 0 of the third block is not the first key. What is its position?
Rejected by: test_causal
Costs: 25 %
Belief: causal_within_the_block
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(queries, keys, 0, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
