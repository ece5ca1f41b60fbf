"""Swaps rows and columns of the causal mask before it is combined.

Exercise: combine_masks
Believes: the causal mask is keys by queries.
Shows: every token sees the future and not the past.
Hint: Both masks here have the keys as their last axis. Which axis of the causal mask is the
    queries?
Rejected by: test_both_must_allow
Costs: 35 %
"""


def combine_masks(causal, padding):
    return causal.T & padding[:, None, None, :]
