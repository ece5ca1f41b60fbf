"""Counts the first copy only.

Exercise: induction_score
Believes: A search ends at the first hit.
Shows: Attention to later copies is missing.
Hint: How many keys match if the token occurs for the fourth time?
Rejected by: test_every_earlier_copy_counts
Costs: 30 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    matches = matches & (matches.cumsum(-1) == 1)
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
