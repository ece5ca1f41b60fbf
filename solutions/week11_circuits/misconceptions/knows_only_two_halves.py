"""Assumes that the sequence is repeated once.

Exercise: induction_score
Believes: All sequences consist of two equal halves.
Shows: Scores depend on positions only, not on the tokens.
Hint: Does your score change if you change the tokens?
Rejected by: test_any_sequences
Costs: 40 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    half = ids.shape[1] // 2
    matches[:, range(half, 2 * half), range(1, half + 1)] = True
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
