"""Returns a mask of integers.

Exercise: combine_masks
Believes: masks are numbers that are multiplied.
Shows: the values are right, the dtype is int64.
Hint: The values are right. Which dtype does the docstring promise, and what would `~` do to
    yours?
Rejected by: test_both_must_allow
Costs: 25 %
Belief: bool_masks
"""


def combine_masks(causal, padding):
    return causal.long() * padding.long()[:, None, None, :]
