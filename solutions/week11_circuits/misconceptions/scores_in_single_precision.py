"""Computes the score in float32.

Exercise: copying_score
Believes: Scores are float32.
Shows: float64 weights give float32 scores.
Hint: Which dtype do the weights have?
Rejected by: test_double_precision
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small.float())
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
