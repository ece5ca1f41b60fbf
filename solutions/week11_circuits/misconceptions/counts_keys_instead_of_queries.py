"""Divides by the number of matching pairs.

Exercise: induction_score
Believes: The mean is over the pairs.
Shows: Scores shrink when tokens have several copies.
Hint: Over what does the docstring take the mean: keys or queries?
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
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / matches.sum()
