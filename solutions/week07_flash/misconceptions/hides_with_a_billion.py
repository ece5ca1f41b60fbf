"""Hides keys with a finite number that float16 cannot represent.

Exercise: tiled_attention
Believes: A large negative number is as good as -inf.
Shows: An error in float16, which ends at 65504.
Hint: Two ways out: -inf exists in every type, and the scores may be computed in float32.
Rejected by: test_float_types
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
            scores = scores.to(q.dtype).masked_fill(hidden, -1e9).to(dtype)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
