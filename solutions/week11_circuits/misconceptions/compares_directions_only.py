"""Computes cosines.

Exercise: logit_attribution
Believes: A contribution is a similarity.
Shows: All values are between -1 and 1.
Hint: Does a term count twice if it is twice as long?
Rejected by: test_values
Costs: 40 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return torch.cosine_similarity(terms, directions.expand_as(terms), dim=-1)
