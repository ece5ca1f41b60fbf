"""Cuts the gradient of the unembedding.

Exercise: logit_attribution
Believes: The unembedding is a constant.
Shows: The unembedding gets no gradient.
Hint: Which arguments does your result depend on?
Rejected by: test_gradients
Costs: 20 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed.detach()[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1)
