"""Returns contributions in float32.

Exercise: logit_attribution
Believes: Contributions are float32.
Shows: Other dtypes come back as float32.
Hint: Which dtype do the terms have?
Rejected by: test_dtypes
Costs: 20 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    return (terms * directions).sum(dim=-1).float()
