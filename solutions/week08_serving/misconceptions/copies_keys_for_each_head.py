"""Loops over the query heads, and copies the keys and values of each.

Exercise: grouped_query_attention
Believes: A copy that is thrown away at once costs nothing.
Shows: Right numbers; but all heads together copy what sharing saved, in every step.
Hint: What does `k[:, h // group]` give without `.clone()`? Does any head change its keys?
Rejected by: test_keys_are_not_copied_for_each_head
Costs: 35 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    group = heads // kv_heads
    keys = (k[:, h // group].clone() for h in range(heads))
    scores = [q[:, h] @ key.transpose(-2, -1) for h, key in enumerate(keys)]
    weights = _masked_softmax(torch.stack(scores, dim=1) / math.sqrt(d), mask)
    values = (v[:, h // group].clone() for h in range(heads))
    output = [weights[:, h] @ value for h, value in enumerate(values)]
    return torch.stack(output, dim=1), weights
