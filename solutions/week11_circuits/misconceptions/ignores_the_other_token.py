"""Ignores `others`.

Exercise: logit_attribution
Believes: The logit of the target says everything.
Shows: The result is the same with and without `others`.
Hint: Which argument does your result not depend on?
Rejected by: test_difference
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    return (terms * directions).sum(dim=-1)
