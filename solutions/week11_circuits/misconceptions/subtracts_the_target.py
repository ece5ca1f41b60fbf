"""Subtracts the target's logit from the other.

Exercise: logit_attribution
Believes: A difference has no direction.
Shows: All signs are reversed with `others`.
Hint: Should a term that raises the target's logit count as positive?
Rejected by: test_difference
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = unembed[others] - directions
    return (terms * directions).sum(dim=-1)
