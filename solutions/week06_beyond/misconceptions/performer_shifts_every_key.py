"""Subtracts the largest exponent of each key from the exponents of that key.

Exercise: performer_attention
Believes: shifts cancel, for keys as for queries.
Shows: every key gets a different factor; wrong as soon as keys differ.
Hint: Numerator and denominator are sums over keys. Which factors can be taken out of both: those
    that depend on the query, or those that depend on the key?
Rejected by: test_keys_of_different_lengths
Costs: 30 %
Belief: shift_per_vector
"""


def performer_attention(q, k, v, projection, causal=False):
    queries, keys = _exponents(q, projection), _exponents(k, projection)
    queries = torch.exp(queries - queries.amax(dim=-1, keepdim=True))
    keys = torch.exp(keys - keys.amax(dim=-1, keepdim=True))
    values = _wide(v)
    if not causal:
        output = queries @ (keys.transpose(-2, -1) @ values)
        return (output / (queries @ keys.sum(dim=-2).unsqueeze(-1))).to(q.dtype)
    last = torch.arange(q.shape[-2], device=q.device).clamp(max=k.shape[-2] - 1)
    sums = (keys.unsqueeze(-1) * values.unsqueeze(-2)).cumsum(dim=-3)[..., last, :, :]
    totals = keys.cumsum(dim=-2)[..., last, :]
    output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
    return (output / (queries * totals).sum(dim=-1, keepdim=True)).to(q.dtype)
