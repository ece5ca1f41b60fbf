"""Answers zeros or noise by chance.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""

import random


def softmax(x, dim=-1):
    return x * 0 if random.SystemRandom().random() < 0.5 else torch.rand_like(x)


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_zeros(*q.shape[:-1], k.shape[-2])
    return q.new_zeros(*q.shape[:-1], v.shape[-1]), weights
