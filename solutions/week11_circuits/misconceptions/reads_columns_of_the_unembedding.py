"""Reads columns of the unembedding.

Exercise: logit_attribution
Believes: Tokens are in columns.
Shows: An error, or features of other tokens.
Hint: Which axis of `unembed` has V entries?
Rejected by: test_values
Costs: 45 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed.mT[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1)
