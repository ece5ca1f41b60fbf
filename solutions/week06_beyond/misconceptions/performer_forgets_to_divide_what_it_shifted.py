"""Shifts the exponents and does not divide by the sum of the weights.

Exercise: performer_attention
Believes: the features are normalised already.
Shows: the weights of a query do not sum to one: outputs are too small or too large.
Hint: With all values equal to 1, what should come out, and what comes out of yours?
Rejected by: test_equal_values
Costs: 35 %
"""

def performer_attention(q, k, v, projection, causal=False):
    exponents = _exponents(q, projection)
    queries = torch.exp(exponents - exponents.detach().amax(dim=-1, keepdim=True))
    exponents = _exponents(k, projection)
    keys = torch.exp(exponents - exponents.detach().amax(dim=(-2, -1), keepdim=True))
    values = _wide(v)
    if not causal:
        return (queries @ (keys.transpose(-2, -1) @ values)).to(q.dtype)
    last = torch.arange(q.shape[-2], device=q.device).clamp(max=k.shape[-2] - 1)
    sums = (keys.unsqueeze(-1) * values.unsqueeze(-2)).cumsum(dim=-3)[..., last, :, :]
    return (queries.unsqueeze(-2) @ sums).squeeze(-2).to(q.dtype)
