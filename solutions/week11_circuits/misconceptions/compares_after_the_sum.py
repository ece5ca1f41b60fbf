"""Subtracts the other token's logit from one term only.

Exercise: logit_attribution
Believes: The difference of sums is taken once.
Shows: With `others`, only one term differs from the result without.
Hint: What does each single term contribute to the other token's logit?
Rejected by: test_difference
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    found = (terms * directions).sum(dim=-1)
    if others is not None:
        other = (terms.sum(dim=0) * unembed[others]).sum(dim=-1)
        found = torch.cat([found[:-1], found[-1:] - other])
    return found
