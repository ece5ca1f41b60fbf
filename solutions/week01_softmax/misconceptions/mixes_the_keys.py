"""Blends the keys.

Exercise: scaled_dot_product_attention
Believes: the keys that are found are also the result.
Shows: right weights; outputs as long as a key.
Hint: A dictionary is searched by its keys. What does it return?
Rejected by: test_values
Costs: 40 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    return weights @ k, weights
