"""Adds the logit of the other token.

Exercise: logit_attribution
Believes: Both tokens are of interest.
Shows: With `others`, contributions to both logits are added.
Hint: What is the result if both tokens are the same?
Rejected by: test_difference
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions + unembed[others]
    return (terms * directions).sum(dim=-1)
