"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def softmax_numpy__divides_by_the_sum(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


def softmax__divides_by_the_sum(x, dim=-1):
    return x / x.sum(dim, keepdim=True)


def logsumexp__takes_the_largest(x, dim=-1, keepdim=False):
    return x.amax(dim, keepdim=keepdim)


def logsumexp__adds(x, dim=-1, keepdim=False):
    return x.sum(dim, keepdim=keepdim)


def scaled_dot_product_attention_numpy__mixes_without_softmax(q, k, v):
    weights = q @ np.swapaxes(k, -1, -2)
    return weights @ v, weights


def scaled_dot_product_attention__mixes_without_softmax(q, k, v):
    weights = q @ k.mT
    return weights @ v, weights
