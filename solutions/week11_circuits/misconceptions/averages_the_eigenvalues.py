"""Divides by the number of eigenvalues.

Exercise: copying_score
Believes: The score is the mean eigenvalue.
Shows: Scores grow with the weights.
Hint: What happens to your score if W_O is doubled?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / found.shape[-1]
    return score
