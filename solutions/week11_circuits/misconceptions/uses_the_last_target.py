"""Uses the target of the last position everywhere.

Exercise: logit_attribution
Believes: A sequence has one target.
Shows: Only the last position is correct.
Hint: Which column of `targets` do you use for the first position?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets[:, -1:].expand_as(targets)]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1)
