"""Puts the queries of a group together in one order and takes them apart in another.

Exercise: grouped_query_attention
Believes: A reshape that gives the right shape is right.
Shows: Right for one query or one head per group; otherwise rows go to other heads.
Hint: (group, n) and (n, group) flatten to the same size. In which order did you flatten, and
    unflatten?
Rejected by: test_groups_of_neighbours
Costs: 40 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    each = heads // kv_heads
    mixed = q.reshape(batch, kv_heads, each, n, d).transpose(2, 3)
    mixed = mixed.reshape(batch, kv_heads, n * each, d)
    scores = mixed @ k.transpose(-2, -1) / math.sqrt(d)
    weights = _masked_softmax(scores.reshape(batch, heads, n, m), mask)
    output = weights.reshape(batch, kv_heads, each * n, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights
