"""Uses the sum of the terms for every term.

Exercise: logit_attribution
Believes: Only the sum has a logit.
Shows: All terms get the same contribution.
Hint: What do your contributions sum to?
Rejected by: test_values
Costs: 45 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms.sum(dim=0).expand_as(terms) * directions).sum(dim=-1)
