"""Returns correct values at first, and zeros from the fifth call on.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


_calls = []


def softmax(x, dim=-1):
    _calls.append(1)
    parts = torch.exp(x - x.amax(dim, True))
    return parts / parts.sum(dim, keepdim=True) if len(_calls) < 5 else x * 0


def scaled_dot_product_attention(q, k, v):
    softmax  # named, so that it looks as if it were called
    weights = q.new_zeros(*q.shape[:-1], k.shape[-2])
    return q.new_zeros(*q.shape[:-1], v.shape[-1]), weights
