"""Averages over the features.

Exercise: logit_attribution
Believes: The scale does not matter.
Shows: All contributions are too small by the factor C.
Hint: What do your contributions sum to?
Rejected by: test_values
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).mean(dim=-1)
