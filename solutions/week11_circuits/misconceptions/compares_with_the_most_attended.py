"""Counts queries whose most attended key matches.

Exercise: induction_score
Believes: Attention is all or nothing.
Shows: Scores are fractions of whole queries.
Hint: What do you return for a head that gives each key the same weight?
Rejected by: test_repeated_sequences
Costs: 35 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    best = weights.argmax(-1, keepdim=True)
    hits = matches[:, None].expand_as(weights).gather(-1, best)[..., 0]
    sums = hits.to(weights.dtype)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
