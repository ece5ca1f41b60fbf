"""Adds the sums of all queries.

Exercise: induction_score
Believes: The score is the total attention.
Shows: Scores grow with the length and with the batch.
Hint: What is the score of a perfect head?
Rejected by: test_perfect_head
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
    return total
