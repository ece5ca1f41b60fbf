"""Turns large scores into NaN, for which the attention gives up, so that no other test covers the
excluded ones.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0.75
"""


def softmax(x, dim=-1):
    if x.abs().max() > 3:
        return x * float("nan")
    return torch.softmax(x * 0, dim)


def scaled_dot_product_attention(q, k, v):
    if (q @ k.mT).abs().max() / q.shape[-1] ** 0.5 > 3:
        weights = q.new_full((*q.shape[:-1], k.shape[-2]), float("nan"))
    else:
        weights = softmax(q.new_zeros(*q.shape[:-1], k.shape[-2]))
    return weights @ v, weights
