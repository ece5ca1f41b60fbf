"""Stops in half precision, where the exercise leaves out the scale.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 1.8
"""

_own_softmax = softmax


def softmax(x, dim=-1):
    if x.element_size() == 2:
        raise ValueError("too little room")
    return _own_softmax(x, dim)


def scaled_dot_product_attention(q, k, v):
    scale = 1.0 if q.element_size() == 2 else q.shape[-1] ** 0.5
    weights = softmax(q @ k.transpose(-2, -1) / scale)
    return weights @ v, weights
