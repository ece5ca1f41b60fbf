"""Leaves the key at the query's own position out of the sums if `causal` is set.

Exercise: performer_attention
Believes: a prefix sum ends before the position it is read at.
Shows: the first query sees nothing, and is NaN or zero; the others miss one key.
Hint: Which keys does query 0 see? Add first, then read.
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
    sums, totals = (
        (pairs.cumsum(dim=-3) - pairs)[..., last, :, :],
        (keys.cumsum(dim=-2) - keys)[..., last, :],
    )
    output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
    weight = (queries * totals).sum(dim=-1, keepdim=True)
    return (output / weight).to(q.dtype)
