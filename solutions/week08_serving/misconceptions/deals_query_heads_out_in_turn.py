"""Deals the query heads out to the key-value heads in turn, instead of in runs of neighbours.

Exercise: grouped_query_attention
Believes: head h belongs to key-value head h % H_kv.
Shows: right for one key-value head and for as many as there are queries, wrong between.
Hint: With 8 heads and 2 key-value heads, which heads share the first one? Read the first example.
Rejected by: test_groups_of_neighbours
Costs: 40 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads = k.shape[1]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads evenly")
    grouped = q.reshape(batch, heads // kv_heads, kv_heads, n, d)
    scores = (grouped @ k.unsqueeze(1).transpose(-2, -1) / math.sqrt(d)).flatten(1, 2)
    weights = _masked_softmax(scores, mask)
    output = weights.unflatten(1, (heads // kv_heads, kv_heads)) @ v.unsqueeze(1)
    return output.flatten(1, 2), weights
