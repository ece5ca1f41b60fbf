"""Leaves the results in sorted order.

Exercise: lsh_attention
Believes: The output of attention does not depend on the order of the rows.
Shows: The right rows at the wrong positions.
Hint: Row 0 of your result belongs to the position that came first in the sort. Which of your two
    permutations leads back?
Rejected by: test_values
Costs: 30 %
"""


def _in_original_order(chunks, inverse):
    return chunks.flatten(-3, -2)
