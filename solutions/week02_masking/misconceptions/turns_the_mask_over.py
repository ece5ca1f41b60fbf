"""Transposes the mask, so that its rows meet the keys.

Exercise: scaled_dot_product_attention
Believes: masks are keys by queries.
Shows: an error where n differs from m; with a causal mask, attention to the future.
Hint: The last two axes of the scores are queries and keys, in this order. Which order does the
    mask have?
Rejected by: test_causal
Costs: 30 %
Belief: mask_turned_over
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask.mT)
    return weights @ v, weights
