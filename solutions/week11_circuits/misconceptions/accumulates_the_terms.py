"""Adds all earlier terms to each term.

Exercise: logit_attribution
Believes: A layer sees the sum of the terms so far.
Shows: Each contribution contains those before it.
Hint: What do your contributions sum to?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms.cumsum(dim=0) * directions).sum(dim=-1)
