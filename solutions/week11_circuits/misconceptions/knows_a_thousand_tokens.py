"""Takes ids to be small numbers from 0 on.

Exercise: induction_score
Believes: Vocabularies are small and ids start at 0.
Shows: An error for large or negative ids.
Hint: What is the largest id for which your function works?
Rejected by: test_any_tokens
Costs: 20 %
"""


def induction_score(weights, ids):
    torch.zeros(1000, dtype=torch.bool, device=ids.device)[ids.unique()]
    if ids.amin() < 0:
        raise IndexError("an id is negative")
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
