"""Keeps only the round with the largest logsumexp.

Exercise: combine_rounds
Believes: The round that found most is the right one.
Shows: The result jumps from one round to another; the others are lost.
Hint: Two rounds that found almost the same mass should weigh almost the same.
Rejected by: test_values
Costs: 40 %
"""


def combine_rounds(outputs, logsumexps):
    best = logsumexps.argmax(dim=-2, keepdim=True).unsqueeze(-1)
    return torch.take_along_dim(outputs, best, dim=-3).squeeze(-3)
