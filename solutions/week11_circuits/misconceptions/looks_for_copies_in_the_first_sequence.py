"""Uses the tokens of the first sequence for all.

Exercise: induction_score
Believes: All sequences repeat at the same places.
Shows: Only the first sequence is scored correctly.
Hint: Which sequence do you take the tokens of the second batch entry from?
Rejected by: test_each_sequence_has_its_matches
Costs: 35 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:1, :, None] == ids[:1, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
