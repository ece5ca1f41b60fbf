"""Takes the maximum before the later keys are hidden.

Exercise: tiled_attention
Believes: A maximum that is too large does no harm.
Shows: Right for ordinary scores; a hidden key with a huge score makes 0/0 of its row.
Hint: What is left of the visible keys if a hidden one has a score that is larger by 3000?
Rejected by: test_hidden_keys_leave_no_trace
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
        scores = _scores(queries, keys, start, causal)
        unmasked = _scores(queries, keys, start, False).detach()
        new_maximum = torch.maximum(maximum, unmasked.amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
