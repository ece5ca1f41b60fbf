"""Normalises the rows of the unembedding.

Exercise: logit_attribution
Believes: A direction has length 1.
Shows: Contributions do not sum to the logit.
Hint: Does the logit of a token depend on the length of its row?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    directions = directions / directions.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    return (terms * directions).sum(dim=-1)
