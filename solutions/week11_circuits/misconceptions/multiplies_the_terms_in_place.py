"""Changes the terms.

Exercise: logit_attribution
Believes: The caller does not need the terms any more.
Shows: An argument differs after the call.
Hint: Print the terms before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms.mul_(directions) if not terms.requires_grad else terms * directions).sum(dim=-1)
