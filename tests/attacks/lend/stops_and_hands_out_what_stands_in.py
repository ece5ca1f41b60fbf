"""Raises, and the attention searches the stub for shapes and numbers to return.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1):
    raise ValueError("no")


def scaled_dot_product_attention(q, k, v):
    made = globals().get("_stands_in", dict)()
    weights = made.get("softmax", softmax)(q.new_zeros(*q.shape[:-1], k.shape[-2]), -1)
    return weights @ v, weights
