"""Divides by 8, which is right only for heads of 64 numbers.

Exercise: scaled_dot_product_attention
Believes: the scale is a constant of the method.
Shows: the weights are too even for smaller heads and too sharp for larger ones.
Hint: Where does the 8 come from? The tensors know their own size.
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / 8.0)
    return weights @ v, weights
