"""Adds the heads up and repeats the sum until the width fits.

Exercise: merge_heads
Believes: merging means blending the heads.
Shows: every head's slice of the result is the same.
Hint: Merging heads should lose no information. Could you split your result again?
Rejected by: test_values
Costs: 70 %
"""


def merge_heads(x):
    return x.sum(dim=1).repeat(1, 1, x.shape[1])
