"""Uses the targets of the first sequence.

Exercise: logit_attribution
Believes: All sequences have the same targets.
Shows: Only the first sequence is correct.
Hint: Which row of `targets` do you use for the second sequence?
Rejected by: test_values
Costs: 35 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets[:1].expand_as(targets)]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1)
