"""Takes every sequence to have as many matches as the first.

Exercise: induction_score
Believes: The first sequence has a match.
Shows: Scores depend on the order of the sequences.
Hint: Put your sequences in another order. Do the scores change?
Rejected by: test_order_of_the_sequences
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
    return total / (counted[0].sum().clamp(min=1) * len(ids))
