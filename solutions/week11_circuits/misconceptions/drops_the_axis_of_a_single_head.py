"""Drops axes of size 1.

Exercise: induction_score
Believes: One head has a plain number.
Shows: A number instead of (1,) for one head.
Hint: What is the shape of your result for one head?
Rejected by: test_singleton_axes
Costs: 20 %
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
    return (total / counted.sum()).squeeze()
