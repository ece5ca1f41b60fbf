"""Takes the softmax over the queries.

Exercise: grouped_query_attention
Believes: Any axis of the table will do.
Shows: Columns of the weights sum to 1, not rows.
Hint: Who distributes weights, and over what? Look at the row sums.
Rejected by: test_groups_of_neighbours
Costs: 40 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    scores = q.reshape(batch, kv_heads, -1, d) @ k.transpose(-2, -1) / math.sqrt(d)
    scores = scores.reshape(batch, heads, n, m)
    if mask is not None:
        mask = mask.transpose(-2, -1)
    weights = _masked_softmax(scores.transpose(-2, -1), mask).transpose(-2, -1)
    output = weights.reshape(batch, kv_heads, -1, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights
