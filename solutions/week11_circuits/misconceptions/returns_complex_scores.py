"""Returns complex numbers.

Exercise: copying_score
Believes: A sum of complex numbers is complex.
Shows: The result has a complex dtype.
Hint: Print the dtype of your result.
Rejected by: test_values
Costs: 25 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
