"""Averages over the heads as well.

Exercise: induction_score
Believes: A model has one score.
Shows: One number instead of one per head.
Hint: How many numbers should you return for 4 heads?
Rejected by: test_repeated_sequences
Costs: 35 %
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
    return (total / counted.sum()).mean()
