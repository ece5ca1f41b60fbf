"""Excludes the query's own position.

Exercise: induction_score
Believes: A position cannot follow a copy of its own token.
Shows: Pairs of equal neighbours do not count.
Hint: Positions 3 and 4 hold the same token. What follows the copy at 3?
Rejected by: test_copy_just_before
Costs: 20 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril(-1)
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
