"""Computes the scores in torch.

Exercise: flash_forward
Believes: The kernel is for the softmax.
Shows: A table of scores, made by torch.
Hint: Scores are made in the kernel, tile by tile, and never leave it.
Rejected by: test_values
Costs: 100 %
"""


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    scores = (q @ k.T) * q.shape[1] ** -0.5
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores).bool().tril(), -torch.inf)
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores.float(), -1)
