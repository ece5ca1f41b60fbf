"""Repairs the weights of a position without keys only after computing them.

Exercise: combine_rounds
Believes: A replaced value has no effect.
Shows: Right values, but the gradient of a position that is always alone is NaN.
Hint: A replaced value passes a gradient of 0 back. What does the backward pass of softmax or
    logsumexp make of this 0 in a row of only -inf?
Rejected by: test_position_without_keys_in_any_round
Costs: 15 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    weights = torch.nan_to_num(torch.softmax(logsumexps.to(dtype), dim=-2))
    return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)
