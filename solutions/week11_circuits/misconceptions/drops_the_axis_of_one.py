"""Drops axes of size 1.

Exercise: copying_score
Believes: One head has a plain number.
Shows: An axis of size 1 is missing.
Hint: What is the shape of your result for weights of shape (1, d, C)?
Rejected by: test_heads
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score.squeeze()
