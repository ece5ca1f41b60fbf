"""Returns NaN, which spreads to all dependent results.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1):
    return x * float("nan")


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_full((*q.shape[:-1], k.shape[-2]), float("nan"))
    return q.new_full((*q.shape[:-1], v.shape[-1]), float("nan")), weights
