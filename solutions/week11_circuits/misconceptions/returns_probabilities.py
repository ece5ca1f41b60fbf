"""Converts the contributions with a softmax.

Exercise: logit_attribution
Believes: Contributions are shares.
Shows: All contributions are positive and sum to 1.
Hint: Should the contributions sum to the logit or to 1?
Rejected by: test_values
Costs: 45 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1).softmax(dim=0)
