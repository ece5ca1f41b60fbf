"""Returns None, which callers cannot use.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1):
    return None


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    return None, None
