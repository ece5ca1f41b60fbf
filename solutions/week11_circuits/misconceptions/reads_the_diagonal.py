"""Uses the diagonal of a matrix for its eigenvalues.

Exercise: copying_score
Believes: Copying is on the diagonal.
Shows: The denominator differs for matrices that are not diagonal.
Hint: Are the diagonal entries of your matrix its eigenvalues?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = small.diagonal(dim1=-2, dim2=-1)
    size = found.abs().sum(dim=-1)
    score = found.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
