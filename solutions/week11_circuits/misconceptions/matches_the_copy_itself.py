"""Counts attention to the copy itself.

Exercise: induction_score
Believes: An induction head attends to the earlier copy of the token.
Shows: A head that attends to equal tokens gets a high score.
Hint: At which position is the token that followed the copy?
Rejected by: test_repeated_sequences
Costs: 45 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches = (ids[:, :, None] == ids[:, None]).tril(-1)
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
