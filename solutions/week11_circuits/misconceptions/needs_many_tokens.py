"""Fails if there are fewer tokens than features in a head.

Exercise: copying_score
Believes: There are more tokens than features in a head.
Shows: An error for small vocabularies.
Hint: What does your function do for 3 tokens and d = 5?
Rejected by: test_small_vocabularies
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    torch.zeros(W_V.shape[-2]).copy_(torch.zeros(min(len(embed), 10**6))[: W_V.shape[-2]])
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
