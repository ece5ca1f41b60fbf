"""Averages over all queries.

Exercise: induction_score
Believes: Queries without a match have the score 0.
Shows: Scores are too low, above all in sequences with few repetitions.
Hint: Can a head attend to a matching key if there is none?
Rejected by: test_queries_without_a_match_do_not_count
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
    return total / counted.numel()
