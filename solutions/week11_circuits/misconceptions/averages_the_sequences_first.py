"""Averages within each sequence first.

Exercise: induction_score
Believes: All sequences have the same number of matches.
Shows: Queries of sequences with few matches count more.
Hint: Do all queries have the same influence on your mean?
Rejected by: test_all_queries_have_equal_weight
Costs: 25 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    each = (sums * counted[:, None]).sum(dim=2) / counted.sum(-1).clamp(min=1)[:, None]
    return each[counted.any(-1)].mean(dim=0)
