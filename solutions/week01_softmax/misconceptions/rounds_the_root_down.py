"""Rounds the root of the head size down to a whole number.

Exercise: scaled_dot_product_attention
Believes: head sizes are 4, 16 or 64.
Shows: right for square numbers, too sharp for all others.
Hint: Try a head size of 8. What does your scale give?
Rejected by: test_values
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / int(math.sqrt(q.shape[-1])))
    return weights @ v, weights
