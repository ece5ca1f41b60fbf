"""Fills hidden scores with a large negative number and leaves it at that.

Exercise: keras_attention
Believes: a very small weight is as good as none.
Shows: a query with no visible key attends to all keys equally.
Hint: Softmax sees differences only. What is left when all scores of a row are equally low?
Rejected by: test_empty_rows
Costs: 25 %
"""


def keras_attention(q, k, v, mask=None):
    from keras import ops

    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = ops.softmax(scores, axis=-1)
    else:
        lowest = -6e4 if "16" in str(q.dtype) else -1e9
        weights = ops.softmax(ops.where(mask, scores, lowest), axis=-1)
    return ops.matmul(weights, v), weights
