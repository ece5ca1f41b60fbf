"""Gives hidden entries a score of 0, or one very close to it.

Exercise: scaled_dot_product_attention
Believes: a number close to zero hides an entry.
Shows: hidden entries get the weight of a score of 0.
Hint: What is the exponential of the score that your hidden entries get? Which scores become weights
of 0?
Rejected by: test_values
Costs: 35 %
Belief: close_to_zero_hides
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e-12)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
