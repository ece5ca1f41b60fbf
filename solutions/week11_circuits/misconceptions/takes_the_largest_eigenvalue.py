"""Uses the largest eigenvalue only.

Exercise: copying_score
Believes: The largest eigenvalue decides.
Shows: The score is nearly 1 or -1 for every head.
Hint: How many eigenvalues does your score depend on?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    best = found.abs().argmax(dim=-1, keepdim=True)
    score = (found.gather(-1, best).real / found.gather(-1, best).abs().clamp(min=1e-30))[..., 0]
    return score
