"""Counts attention to the token before the copy.

Exercise: induction_score
Believes: What comes before a copy predicts the next token.
Shows: Scores belong to keys two positions too early.
Hint: If A B … A is read, which position helps to predict B?
Rejected by: test_repeated_sequences
Costs: 45 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, :-1] = ids[:, :, None] == ids[:, None, 1:]
    matches = matches.tril(-2)
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
