"""Hides scores with -1e4 and then zeroes them, which fails where allowed scores are lower than that.

Exercise: masked_softmax
Believes: no score is ever below -10000, which float16 can represent.
Shows: right until the allowed scores themselves are very low.
Hint: Your number fits into float16, but is it the lowest a score can be? Shift all scores of a
    row far down and compare.
Rejected by: test_allowed_scores_may_be_very_low
Costs: 15 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), dim=dim)
    return weights.masked_fill(~mask, 0.0)
