"""Drops axes of size 1.

Exercise: previous_token_score
Believes: One head has a plain number.
Shows: A number instead of (1,) for one head.
Hint: What is the shape of your result for one head?
Rejected by: test_each_head_has_its_score
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2)).squeeze()
