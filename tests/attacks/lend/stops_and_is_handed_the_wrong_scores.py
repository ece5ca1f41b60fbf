"""Stops, so that something else must stand in for it; the attention forgets to scale the scores.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 1.2
"""


def softmax(x, dim=-1):
    raise ValueError("no")


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.mT, -1)
    return weights @ v, weights
