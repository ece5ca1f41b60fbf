"""Averages the scores of the heads.

Exercise: copying_score
Believes: A layer has one score.
Shows: One number instead of one per head.
Hint: How many scores do weights of shape (H, d, C) have?
Rejected by: test_heads
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score.mean()
