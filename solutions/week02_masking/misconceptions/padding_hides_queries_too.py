"""Hides padding as keys, which is right, and empties the rows of padded queries as well.

Exercise: combine_masks
Believes: a padded token must neither be seen nor see.
Shows: the rows of padded queries are False throughout.
Hint: The columns are right. Read in the docstring what happens to the row of a padded query.
Rejected by: test_padding_hides_keys
Costs: 35 %
"""


def combine_masks(causal, padding):
    return causal & padding[:, None, None, :] & padding[:, None, :, None]
