"""Averages the weights that queries give to their own position.

Exercise: previous_token_score
Believes: The main diagonal belongs to the previous token.
Shows: A head that attends to itself gets the score 1.
Hint: Which row and which column belong to the query at position 3 and its previous token?
Rejected by: test_values
Costs: 45 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(0, dim1=-2, dim2=-1).mean(dim=(0, 2))
