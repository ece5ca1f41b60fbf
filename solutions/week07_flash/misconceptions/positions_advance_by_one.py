"""Lets the position of a block's first key grow by 1 per block.

Exercise: tiled_attention
Believes: The loop counts positions if it adds 1 in each step.
Shows: With causal, only the first block is right: keys of later blocks are seen too early.
Hint: With blocks of 4 keys, at which position does the third block begin, and which position does
    your code use?
Rejected by: test_causal
Costs: 25 %
Belief: positions_advance_by_one
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    first = 0
    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = _scores(queries, k[..., block, :].to(dtype), first, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(dim=-1, keepdim=True))
        shift = _finite(new_maximum)
        rescale = torch.exp(maximum - shift)
        weights = torch.exp(scores - shift)
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        output = output * rescale + weights @ v[..., block, :].to(dtype)
        maximum = new_maximum
        first += 1
    output = output / total.masked_fill(total == 0, 1.0)
    return output.to(q.dtype), (maximum + torch.log(total)).squeeze(-1).to(q.dtype)
