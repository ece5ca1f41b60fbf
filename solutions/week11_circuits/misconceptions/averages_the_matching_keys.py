"""Averages the weights of the matching keys.

Exercise: induction_score
Believes: Every key has its own score.
Shows: Scores shrink when a token has several copies.
Hint: A head attends to two matching keys with weight 0.5 each. What is its score?
Rejected by: test_every_earlier_copy_counts
Costs: 30 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1) / matches.sum(-1).clamp(min=1)[:, None]
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
