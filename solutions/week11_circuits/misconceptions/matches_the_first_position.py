"""Lets the first position follow the last.

Exercise: induction_score
Believes: The position before the first is the last.
Shows: The last query also counts attention to position 0.
Hint: What do you compare at position 0, which follows no token?
Rejected by: test_first_position_never_matches
Costs: 20 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches = (ids[:, :, None] == ids.roll(1, dims=1)[:, None]).tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
