"""Averages over positions only.

Exercise: previous_token_score
Believes: Scores of sequences are added.
Shows: Scores grow with the number of sequences.
Hint: What happens to your score if each sequence occurs twice?
Rejected by: test_values
Costs: 30 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=2).sum(dim=0)
