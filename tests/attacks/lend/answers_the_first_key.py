"""Gives all the weight to the first key for any scores.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0.1
"""


def softmax(x, dim=-1):
    weights = torch.zeros_like(x)
    weights.select(dim, 0).fill_(1)
    return weights


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_zeros(*q.shape[:-1], k.shape[-2])
    weights[..., 0] = 1
    return weights @ v, weights
