"""Changes the caller's weights.

Exercise: copying_score
Believes: The score does not depend on the size of the weights.
Shows: An argument differs after the call.
Hint: Print the weights before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    W_O.mul_(0.5)
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
