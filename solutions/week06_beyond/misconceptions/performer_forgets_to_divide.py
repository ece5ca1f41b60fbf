"""Multiplies features and values, and never divides by the sum of the weights.

Exercise: performer_attention
Believes: the features already make weights.
Shows: equal values come out as something else; results grow with the number of keys.
Hint: Give all keys the value 1. What should come out, and what comes out?
Rejected by: test_values
Costs: 40 %
"""


def performer_attention(q, k, v, projection, causal=False):
    queries, keys = torch.exp(_exponents(q, projection)), torch.exp(_exponents(k, projection))
    values = _wide(v)
    if not causal:
        output = queries @ (keys.transpose(-2, -1) @ values)
        weight = queries @ keys.sum(dim=-2).unsqueeze(-1)
        return output.to(q.dtype)
    last = torch.arange(q.shape[-2], device=q.device).clamp(max=k.shape[-2] - 1)
    pairs = keys.unsqueeze(-1) * values.unsqueeze(-2)
    sums, totals = pairs.cumsum(dim=-3)[..., last, :, :], keys.cumsum(dim=-2)[..., last, :]
    output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
    weight = (queries * totals).sum(dim=-1, keepdim=True)
    return output.to(q.dtype)
