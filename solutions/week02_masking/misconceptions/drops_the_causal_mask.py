"""Keeps the padding mask alone, so that every token sees the future.

Exercise: combine_masks
Believes: padding replaces the causal mask in a padded batch.
Shows: all rows of a sequence are equal.
Hint: Look at the first row of a full sequence: how many keys may the first token see?
Rejected by: test_both_must_allow
Costs: 90 %
"""


def combine_masks(causal, padding):
    length = padding.shape[-1]
    return padding[:, None, None, :].expand(-1, 1, length, length)
