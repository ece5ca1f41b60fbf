"""Computes scores that are not divided by √d, and divides the output by √d.

Exercise: scaled_dot_product_attention
Believes: it does not matter where the scale goes.
Shows: too sharp weights and too small outputs.
Hint: Is softmax(x / 2) the same as softmax(x) / 2? Try it on three numbers.
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v / math.sqrt(q.shape[-1]), weights
