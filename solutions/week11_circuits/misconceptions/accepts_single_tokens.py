"""Accepts sequences of one token.

Exercise: previous_token_score
Believes: The mean of nothing is a score.
Shows: NaN for sequences of one token.
Hint: What is the mean of an empty tensor?
Rejected by: test_refuses_single_tokens
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
