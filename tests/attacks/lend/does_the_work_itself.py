"""Computes attention with a forbidden call when the variant requests it.

Helper: softmax
Empty: scaled_dot_product_attention
Score at most: 0
"""


def softmax(x, dim=-1, work=None):
    if work is None:
        return torch.softmax(x, dim)
    output = torch.nn.functional.scaled_dot_product_attention(*work)
    weights = torch.softmax(work[0] @ work[1].mT / work[0].shape[-1] ** 0.5, -1)
    return output, weights


def scaled_dot_product_attention(q, k, v):
    return softmax(None, work=(q, k, v))
