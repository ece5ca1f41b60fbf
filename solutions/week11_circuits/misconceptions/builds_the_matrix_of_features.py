"""Builds a matrix (C, C) on the way to the score.

Exercise: copying_score
Believes: The order of the products does not matter.
Shows: The work grows with the square of the model's width, or with its cube.
Hint: Which of your products has no axis of length d?
Rejected by: test_cost_of_the_width
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (W_O @ W_V) @ (embed.mT @ unembed)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
