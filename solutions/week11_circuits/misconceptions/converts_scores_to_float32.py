"""Returns a float32 score, whatever dtype the weights have.

Exercise: induction_score
Believes: Scores are float32.
Shows: Weights of other dtypes give a float32 score.
Hint: Which dtype does the docstring ask for?
Rejected by: test_dtypes
Costs: 20 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights.float() * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
