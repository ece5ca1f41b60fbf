"""Averages the weights that queries give to the position two before them.

Exercise: previous_token_score
Believes: The first diagonal is the position itself.
Shows: Heads that attend two positions back get high scores.
Hint: For the query at 3, which column do you read?
Rejected by: test_values
Costs: 45 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights[:, :, 1:, :-1].diagonal(-1, dim1=-2, dim2=-1).sum(dim=(0, 2)) / (
        len(weights) * max(length - 2, 1)
    )
