"""Returns a score for each sequence.

Exercise: induction_score
Believes: Every sequence has a score.
Shows: The result has the shape (B, H).
Hint: Over which axes does the docstring average?
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
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=2)
    return total / counted.sum(-1, keepdim=True).clamp(min=1)
