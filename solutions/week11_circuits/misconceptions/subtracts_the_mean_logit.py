"""Subtracts the mean over the vocabulary.

Exercise: logit_attribution
Believes: Only differences of logits matter, so a logit is centred.
Shows: Contributions sum to the logit minus the mean logit.
Hint: What do your contributions sum to?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets] - unembed.mean(dim=0)
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1)
