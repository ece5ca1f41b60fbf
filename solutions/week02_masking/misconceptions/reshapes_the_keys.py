"""Reshapes the keys to (d, m), which scatters their features.

Exercise: scaled_dot_product_attention
Believes: a reshape to the right shape is a transpose.
Shows: all shapes are right and all scores are wrong.
Hint: Try both on a small matrix of counted numbers and look where each number ends up.
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
