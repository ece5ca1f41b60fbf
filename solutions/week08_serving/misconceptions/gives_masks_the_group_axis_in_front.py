"""Splits the heads of the scores into groups, but not those of a mask.

Exercise: grouped_query_attention
Believes: a new axis of size 1 fits every mask.
Shows: right for one mask of all heads; an error for a mask per head.
Hint: Your scores have an axis of groups and one of heads within a group. How do the H heads of the
    mask become these two?
Rejected by: test_masks_of_four_dimensions
Costs: 15 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads evenly")
    group = heads // kv_heads
    scores = q.reshape(batch, kv_heads, group * n, d) @ k.transpose(-2, -1) / math.sqrt(d)
    if mask is not None and mask.dim() == 4:
        mask = mask.unsqueeze(2)
    weights = _masked_softmax(scores.reshape(batch, kv_heads, group, n, m), mask)
    output = weights.reshape(batch, kv_heads, group * n, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights.reshape(batch, heads, n, m)
