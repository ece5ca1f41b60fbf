"""Drops axes of length one before merging.

Exercise: merge_heads
Believes: `squeeze` only tidies up.
Shows: right until there is one sequence, one token, one head or one feature.
Hint: What is returned for a single sequence, and for a single token?
Rejected by: test_singleton_axes
Costs: 20 %
Belief: squeezed_axes
"""


def merge_heads(x):
    return x.transpose(1, 2).squeeze().flatten(start_dim=-2)
