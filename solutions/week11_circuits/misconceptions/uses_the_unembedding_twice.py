"""Uses the unembedding for the input.

Exercise: copying_score
Believes: The embedding is tied to the output.
Shows: Scores do not depend on `embed`.
Hint: Which argument does your result not depend on?
Rejected by: test_values
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (unembed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
