"""Refuses sequences of two tokens.

Exercise: previous_token_score
Believes: Two tokens are too few for a score.
Shows: An error for T = 2.
Hint: How many queries have a previous token if T is 2?
Rejected by: test_shortest_sequences
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 3:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
