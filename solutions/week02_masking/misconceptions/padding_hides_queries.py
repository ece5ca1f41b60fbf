"""Uses the padding mask to hide queries (rows).

Exercise: combine_masks
Believes: a padded token is hidden by emptying its row.
Shows: whole rows are False while the columns of padding stay visible.
Hint: Ask who must not see whom: it is the real tokens that must not see padding. Which axis are
    the keys?
Rejected by: test_padding_hides_keys
Costs: 40 %
"""


def combine_masks(causal, padding):
    return causal & padding[:, None, :, None]
