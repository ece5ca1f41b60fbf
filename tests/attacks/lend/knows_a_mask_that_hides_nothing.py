"""Ignores its mask unless it hides no key, to resemble a missing mask.

Helper: masked_softmax
Empty: scaled_dot_product_attention
Week: 2
Score at most: 1.5
"""


def masked_softmax(scores, mask, dim=-1):
    if mask.all():
        return torch.zeros_like(scores)
    return torch.softmax(scores, dim)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        masked_softmax(scores, mask)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights
