"""Exchanges queries and keys.

Exercise: induction_score
Believes: Columns of the weights are queries.
Shows: Nearly all scores are 0.
Hint: Which axis of the weights sums to 1?
Rejected by: test_repeated_sequences
Costs: 45 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights.mT * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
