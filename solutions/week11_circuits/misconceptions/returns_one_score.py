"""Averages over the heads as well.

Exercise: previous_token_score
Believes: A model has one score.
Shows: One number instead of one per head.
Hint: How many numbers should you return for 4 heads?
Rejected by: test_values
Costs: 35 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean()
