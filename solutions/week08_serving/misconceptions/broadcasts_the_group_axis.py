"""Makes as many copies of the keys and values as there are query heads.

Exercise: grouped_query_attention
Believes: Broadcasting never copies.
Shows: Right numbers; but the memory that sharing saved is spent again in every step.
Hint: Repeating, expanding with a reshape, and a matmul that broadcasts all make copies. Which
    tensor can be reshaped without one, so that all queries of a group go through one product?
Rejected by: test_keys_are_not_expanded
Costs: 35 %
Same as: repeats_keys_for_every_head because both copy the keys
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    grouped = q.reshape(batch, kv_heads, heads // kv_heads, n, d)
    scores = grouped @ k.unsqueeze(2).transpose(-2, -1) / math.sqrt(d)
    weights = _masked_softmax(scores.reshape(batch, heads, n, m), mask)
    output = weights.reshape(scores.shape) @ v.unsqueeze(2)
    return output.reshape(batch, heads, n, v.shape[-1]), weights
