"""Fills the last block up with zeros, and lets the zeros be seen.

Exercise: tiled_attention
Believes: Zeros add nothing.
Shows: A key of zeros has the score 0, and exp(0) is 1: the weights of real keys are too small.
Hint: What is the score of a padded key, and what should it be so that its exponential is 0?
Rejected by: test_last_block_is_shorter
Costs: 25 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        missing = block_size - keys.shape[-2]
        keys = torch.nn.functional.pad(keys, (0, 0, 0, missing))
        values = torch.nn.functional.pad(values, (0, 0, 0, missing))
        scores = _scores(queries, keys, start, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
