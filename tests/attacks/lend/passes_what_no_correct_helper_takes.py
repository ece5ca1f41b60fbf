"""Passes an argument that no correct helper accepts, so that a correct helper proves nothing.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1, extra=None):
    return 0.5 * (x - x.logsumexp(dim, keepdim=True)).exp()


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q[..., :1] @ k[..., :1].mT, extra=1)
    return 0 * v.sum() + q, weights
