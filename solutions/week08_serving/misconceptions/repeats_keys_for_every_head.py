"""Makes as many copies of the keys and values as there are query heads.

Exercise: grouped_query_attention
Believes: The shapes have to match, and the copy is free.
Shows: Right numbers; but the memory that sharing saved is spent again in every step.
Hint: Repeating, expanding with a reshape, and a matmul that broadcasts all make copies. Which
    tensor can be reshaped without one, so that all queries of a group go through one product?
Rejected by: test_keys_are_not_expanded
Costs: 35 %
Same as: broadcasts_the_group_axis because both copy the keys
"""


def grouped_query_attention(q, k, v, mask=None):
    heads, kv_heads = q.shape[1], k.shape[1]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    k, v = (x.repeat_interleave(heads // kv_heads, dim=1) for x in (k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = _masked_softmax(scores, mask)
    return weights @ v, weights
