"""Assumes that there are as many keys as queries if `causal` is set.

Exercise: performer_attention
Believes: causal attention is self-attention.
Shows: right for n = m, an error about shapes otherwise.
Hint: There is a running sum for every key. Which of them does query i need, and what if there is none for it?
Rejected by: test_causal_of_unequal_lengths
Costs: 20 %
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
    sums, totals = pairs.cumsum(dim=-3), keys.cumsum(dim=-2)
    output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
    weight = (queries * totals).sum(dim=-1, keepdim=True)
    return (output / weight).to(q.dtype)
