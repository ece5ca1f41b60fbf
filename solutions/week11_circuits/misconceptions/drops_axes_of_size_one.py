"""Drops axes of size 1.

Exercise: logit_attribution
Believes: One term is not a list of terms.
Shows: Axes of size 1 are missing.
Hint: What is the shape of your result for one term?
Rejected by: test_singleton_axes
Costs: 20 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1).squeeze()
