"""Takes the last two axes of the mask only.

Exercise: grouped_query_attention
Believes: A mask is (n, m).
Shows: All sequences and heads get the first one's mask.
Hint: Sequences of a batch are padded differently, so their masks differ. Let broadcasting do it.
Rejected by: test_masks_of_four_dimensions
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v, mask if mask is None or mask.dim() == 2 else mask[0, 0])
