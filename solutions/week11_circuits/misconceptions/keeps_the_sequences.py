"""Returns a score for each sequence.

Exercise: previous_token_score
Believes: Every sequence has a score.
Shows: The result has the shape (B, H).
Hint: Over which axes does the docstring average?
Rejected by: test_values
Costs: 35 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=2)
