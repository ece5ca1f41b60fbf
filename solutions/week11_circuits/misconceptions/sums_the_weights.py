"""Adds the weights.

Exercise: previous_token_score
Believes: The score is the total attention.
Shows: Scores grow with the length and with the batch.
Hint: What is the score of a perfect head?
Rejected by: test_values
Costs: 30 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).sum(dim=(0, 2))
