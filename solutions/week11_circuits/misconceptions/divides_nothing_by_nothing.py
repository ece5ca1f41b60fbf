"""Divides by zero for a head that writes nothing.

Exercise: copying_score
Believes: Every head writes something.
Shows: NaN for a head that writes nothing.
Hint: What is the score if all eigenvalues are 0?
Rejected by: test_silent_head
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size
    return score
