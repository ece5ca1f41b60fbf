"""Copies keys and values to every query head by `repeat_interleave`.

Exercise: grouped_query_attention
Believes: The shapes have to match, and the copy is free.
Shows: Right numbers; but the memory that sharing saved is spent again in every step.
Hint: Several queries can use the same keys in one product. Which tensor can be given another shape
    without a copy?
Rejected by: test_keys_are_not_expanded
Costs: 40 %
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
