"""Leaves NaN in the row of a query that sees no key.

Exercise: keras_attention
Believes: a softmax always has something to share out.
Shows: right wherever a key is visible; NaN, in values and gradients, where none is.
Hint: Hide every key of one query. What is left to add up there, and what is it divided by?
Rejected by: test_empty_rows
Costs: 25 %
"""


def keras_attention(q, k, v, mask=None):
    from keras import ops

    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = ops.where(mask, scores, -math.inf)
    weights = ops.softmax(scores, axis=-1)
    return ops.matmul(weights, v), weights
