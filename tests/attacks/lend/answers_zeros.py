"""Returns zeros, so that attention is always zero.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1):
    return x * 0


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_zeros(*q.shape[:-1], k.shape[-2])
    return q.new_zeros(*q.shape[:-1], v.shape[-1]), weights
