"""Takes the largest weight of the matching keys.

Exercise: induction_score
Believes: One key is enough.
Shows: Attention that is spread over several copies counts too little.
Hint: A head attends to two matching keys with weight 0.5 each. What is its score?
Rejected by: test_every_earlier_copy_counts
Costs: 30 %
"""


def induction_score(weights, ids):
    matches = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).amax(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
