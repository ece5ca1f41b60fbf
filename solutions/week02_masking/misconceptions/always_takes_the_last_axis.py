"""Runs the softmax over the last axis and ignores `dim`.

Exercise: masked_softmax
Believes: keys are always the last axis.
Shows: right for dim=-1 alone.
Hint: Which argument says along which axis the weights sum to 1, and where does your code use it?
Rejected by: test_any_axis
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)
    return weights.masked_fill(~mask, 0.0)
