"""Changes the attention weights.

Exercise: induction_score
Believes: The caller does not need the weights any more.
Shows: The argument differs after the call.
Hint: Print the weights before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = weights.mul_(matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
