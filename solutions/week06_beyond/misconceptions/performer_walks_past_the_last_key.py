"""Adds one key per query in its loop, also where no key is left.

Exercise: performer_attention
Believes: causal attention is self-attention, so every query has a key.
Shows: right as long as there are no more queries than keys; an IndexError otherwise.
Hint: Which keys does query 5 see if there are four keys in all?
Rejected by: test_causal_of_unequal_lengths
Costs: 15 %
"""


def performer_attention(q, k, v, projection, causal=False):
    exponents = _exponents(q, projection)
    queries = torch.exp(exponents - exponents.detach().amax(dim=-1, keepdim=True))
    exponents = _exponents(k, projection)
    keys = torch.exp(exponents - exponents.detach().amax(dim=(-2, -1), keepdim=True))
    values = _wide(v)
    if not causal:
        output = queries @ (keys.transpose(-2, -1) @ values)
        weight = queries @ keys.sum(dim=-2).unsqueeze(-1)
        return (output / weight).to(q.dtype)
    sums = total = 0.0
    rows = []
    for t in range(q.shape[-2]):
        sums = sums + keys[..., t, :, None] * values[..., t, None, :]
        total = total + keys[..., t, :]
        query = queries[..., t, :]
        output = (query.unsqueeze(-2) @ sums).squeeze(-2)
        rows.append(output / (query * total).sum(dim=-1, keepdim=True))
    return torch.stack(rows, dim=-2).to(q.dtype)
