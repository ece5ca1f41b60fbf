"""Does not check that the heads divide.

Exercise: grouped_query_attention
Believes: reshape complains by itself.
Shows: RuntimeError, or wrong groups, instead of a ValueError.
Hint: Say what is wrong in the caller's words: how many heads, how many key-value heads?
Rejected by: test_refuses_heads_that_do_not_divide
Costs: 20 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    together = heads // kv_heads * n
    scores = q.reshape(batch, kv_heads, together, d) @ k.transpose(-2, -1) / math.sqrt(d)
    weights = _masked_softmax(scores.reshape(batch, heads, n, m), mask)
    output = weights.reshape(batch, kv_heads, together, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights
