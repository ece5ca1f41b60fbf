"""Keeps the features apart.

Exercise: logit_attribution
Believes: Every feature contributes.
Shows: The result has an axis C.
Hint: What is the shape of a contribution to one logit?
Rejected by: test_values
Costs: 40 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return terms * directions
