"""Divides by all queries.

Exercise: previous_token_score
Believes: Every query has a previous token.
Shows: Scores are too low by the factor (T - 1) / T.
Hint: How many queries have a previous token?
Rejected by: test_first_query_does_not_count
Costs: 30 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).sum(dim=(0, 2)) / (len(weights) * length)
