"""Uses the other token of the first position everywhere.

Exercise: logit_attribution
Believes: There is one wrong answer.
Shows: With `others`, most positions are wrong.
Hint: On which entries of `others` does your result depend?
Rejected by: test_difference
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others[:, :1]]
    return (terms * directions).sum(dim=-1)
