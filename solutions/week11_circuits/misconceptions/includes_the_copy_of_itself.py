"""Averages over all queries, and accepts sequences without a match.

Exercise: induction_score
Believes: A token is a copy of itself.
Shows: Every query has a match, and early ones add zeros.
Hint: Which queries have a match? What do you return if there is none?
Rejected by: test_repeated_sequences
Costs: 35 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = torch.ones_like(ids, dtype=torch.bool)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
