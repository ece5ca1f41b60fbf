"""Divides by the sum of the contributions.

Exercise: logit_attribution
Believes: Contributions are shares.
Shows: The contributions sum to 1.
Hint: Should the contributions sum to the logit or to 1?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    found = (terms * directions).sum(dim=-1)
    return found / found.sum(dim=0)
