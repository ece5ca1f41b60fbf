"""Gives a head that writes nothing the score 1.

Exercise: copying_score
Believes: A head that writes nothing changes nothing.
Shows: 1 instead of 0 for a head that writes nothing.
Hint: What is the score of a head whose W_O is 0?
Rejected by: test_silent_head
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return torch.where(size > 0, score, 1.0)
