"""Divides the output by the sum after every block, and goes on with the quotient.

Exercise: tiled_attention
Believes: The output can be normalised after every block.
Shows: Early blocks are divided several times and count too little.
Hint: When the next block comes, what would you have to multiply by before you add? Or: when is one
    division enough?
Rejected by: test_values
Costs: 30 %
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
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = (output * rescale + weights @ values) / total
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return output.to(q.dtype), logsumexp.to(q.dtype)
