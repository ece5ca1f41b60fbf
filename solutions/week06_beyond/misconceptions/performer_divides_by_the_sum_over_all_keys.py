"""Divides by the sum of the weights of all keys, also of those not seen, if `causal` is set.

Exercise: performer_attention
Believes: the denominator is the same with and without a mask.
Shows: early outputs are far too small; the last one is right.
Hint: Equal values should be returned unchanged, for the first query too. Which keys does your
    denominator include?
Rejected by: test_causal
Costs: 30 %
"""


def performer_attention(q, k, v, projection, causal=False):
    queries, keys = torch.exp(_exponents(q, projection)), torch.exp(_exponents(k, projection))
    values = _wide(v)
    if not causal:
        output = queries @ (keys.transpose(-2, -1) @ values)
        weight = queries @ keys.sum(dim=-2).unsqueeze(-1)
        return (output / weight).to(q.dtype)
    last = torch.arange(q.shape[-2], device=q.device).clamp(max=k.shape[-2] - 1)
    pairs = keys.unsqueeze(-1) * values.unsqueeze(-2)
    sums, totals = pairs.cumsum(dim=-3)[..., last, :, :], keys.sum(dim=-2, keepdim=True)
    output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
    weight = (queries * totals).sum(dim=-1, keepdim=True)
    return (output / weight).to(q.dtype)
