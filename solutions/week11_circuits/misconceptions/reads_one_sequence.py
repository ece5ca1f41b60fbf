"""Uses the first sequence only.

Exercise: previous_token_score
Believes: All sequences have the same attention weights.
Shows: Scores ignore all sequences but the first.
Hint: Does your score change if the second sequence changes?
Rejected by: test_each_head_has_its_score
Costs: 35 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights[0].diagonal(-1, dim1=-2, dim2=-1).mean(dim=1)
