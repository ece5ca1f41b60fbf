"""Handles weights of two axes only.

Exercise: copying_score
Believes: Weights have two axes.
Shows: An error for weights with leading axes.
Hint: What does your function do for weights of shape (H, d, C)?
Rejected by: test_heads
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.permute(*range(W_V.ndim)[::-1]))
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
