"""Returns a float32 score, whatever dtype the weights have.

Exercise: previous_token_score
Believes: Scores are float32.
Shows: Weights of other dtypes give a float32 score.
Hint: Which dtype does the docstring ask for?
Rejected by: test_dtypes
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.float().diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
