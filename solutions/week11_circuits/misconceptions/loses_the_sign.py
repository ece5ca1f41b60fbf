"""Uses the absolute value of the sum.

Exercise: copying_score
Believes: A score is positive.
Shows: Heads that lower the logits of their tokens get high scores.
Hint: What is the score if all eigenvalues are negative?
Rejected by: test_copying_heads
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score.abs()
