"""Answers infinity, so that most sums are infinite or NaN.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1):
    return torch.full_like(x, float("inf"))


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_full((*q.shape[:-1], k.shape[-2]), float("inf"))
    return weights @ v, weights
