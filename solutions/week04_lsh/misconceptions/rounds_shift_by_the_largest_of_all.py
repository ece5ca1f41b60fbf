"""Subtracts the largest logsumexp of all positions before taking the exponential.

Exercise: combine_rounds
Believes: One shift for the whole tensor protects every position.
Shows: Right if the logsumexps of all positions are similar; NaN at positions far below the largest.
Hint: The rounds of which position must share a shift? Try two positions, one with logsumexps near
    0 and one near -1000.
Rejected by: test_far_from_zero
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    wide = logsumexps.to(torch.promote_types(outputs.dtype, torch.float32))
    hidden = torch.isneginf(wide).all(dim=-2, keepdim=True)
    wide = wide.masked_fill(hidden, 0.0)
    mass = (wide - wide.amax()).exp()
    weights = (mass / mass.sum(dim=-2, keepdim=True)).masked_fill(hidden, 0.0)
    return (weights.unsqueeze(-1) * outputs.to(wide.dtype)).sum(dim=-3).to(outputs.dtype)
