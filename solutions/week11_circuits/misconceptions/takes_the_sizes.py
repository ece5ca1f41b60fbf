"""Returns absolute values.

Exercise: logit_attribution
Believes: A contribution is a size.
Shows: No contribution is negative.
Hint: Can a head lower a logit?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1).abs()
