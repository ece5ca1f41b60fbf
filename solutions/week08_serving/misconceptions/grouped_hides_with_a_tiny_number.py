"""Gives hidden entries a score of 0, or one very close to it.

Exercise: grouped_query_attention
Believes: A number close to zero hides an entry.
Shows: Hidden entries get the weight of a score of 0.
Hint: What is the exponential of the score that your hidden entries get? Which scores become
    weights of 0?
Rejected by: test_mask_of_two_dimensions
Costs: 35 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads}")
    together = heads // kv_heads * n
    scores = q.reshape(batch, kv_heads, together, d) @ k.transpose(-2, -1) / math.sqrt(d)
    scores = scores.reshape(batch, heads, n, m)
    weights = torch.softmax(
        scores if mask is None else scores.masked_fill(~mask, -1e-12), dim=-1
    )
    output = weights.reshape(batch, kv_heads, together, m) @ v
    return output.reshape(batch, heads, n, v.shape[-1]), weights
