"""Uses the mask of a group's first head for the whole group.

Exercise: grouped_query_attention
Believes: Heads that share keys share the mask.
Shows: Wrong where the mask differs between the heads of a group.
Hint: A mask of four dimensions broadcasts to (B, H, n, m): H, not H_kv.
Rejected by: test_masks_of_four_dimensions
Costs: 20 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    if mask is not None and mask.dim() == 4 and mask.shape[1] > 1:
        each = q.shape[1] // k.shape[1]
        mask = mask[:, ::each].repeat_interleave(each, dim=1)
    return _grouped(q, k, v, mask)
