"""Divides by zero if no query has a match.

Exercise: induction_score
Believes: There is always a match.
Shows: NaN if no token occurs twice.
Hint: How many queries do you average over if all tokens differ?
Rejected by: test_refuses_sequences_without_a_match
Costs: 20 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
