"""Divides by 8, which is right for the 64 numbers per head of the paper and for nothing else.

Exercise: scaled_dot_product_attention
Believes: the scale is a constant of the method.
Shows: too calm for smaller heads, too sharp for larger ones.
Hint: Where does the 8 come from? The tensors know their own size.
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / 8.0)
    return weights @ v, weights
