"""Multiplies the scores by the root of the head size.

Exercise: grouped_query_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: Scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_groups_of_neighbours
Costs: 30 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads}")
    together = heads // kv_heads * n
    scores = q.reshape(batch, kv_heads, together, d) @ k.transpose(-2, -1) / d**-0.5
    scores = scores.reshape(batch, heads, n, m)
    weights = _masked_softmax(scores, mask)
    output = weights.reshape(batch, kv_heads, together, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights
