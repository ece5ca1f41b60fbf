"""Leaves out embedding and unembedding.

Exercise: copying_score
Believes: A head copies features.
Shows: Scores do not depend on the tokens.
Hint: Which arguments does your result not depend on?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = W_V @ W_O
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
