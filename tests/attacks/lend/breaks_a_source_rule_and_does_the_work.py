"""Breaks a source rule in the lines of another exercise, which also does the work of attention.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1, work=None):
    import sys

    sys._getframe()
    if work is None:
        return (x - x.logsumexp(dim, keepdim=True)).exp()
    weights = torch.softmax(work[0] @ work[1].mT / work[0].shape[-1] ** 0.5, -1)
    return weights @ work[2], weights


def scaled_dot_product_attention(q, k, v):
    return softmax(None, work=(q, k, v))
