"""Averages the weights that queries give to the next position.

Exercise: previous_token_score
Believes: Rows are keys and columns are queries.
Shows: All scores are 0, because causal weights hide later keys.
Hint: Which axis of the weights sums to 1?
Rejected by: test_values
Costs: 45 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(1, dim1=-2, dim2=-1).mean(dim=(0, 2))
