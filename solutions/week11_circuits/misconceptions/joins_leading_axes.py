"""Joins the leading axes.

Exercise: copying_score
Believes: There is at most one leading axis.
Shows: Two leading axes become one.
Hint: What is the shape of your result for weights of shape (L, H, d, C)?
Rejected by: test_heads
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score.flatten() if score.ndim > 1 else score
