"""Adds minus infinity to hidden scores and repairs the NaN of empty rows afterwards.

Exercise: keras_attention
Believes: once the values are repaired, the gradients are too.
Shows: right values; one empty row turns gradients into NaN.
Hint: A NaN that is replaced in the forward pass reappears in the backward pass. Replace scores
    instead of adding to them, and mind the rows in which nothing is left.
Rejected by: test_gradients
Costs: 25 %
"""


def keras_attention(q, k, v, mask=None):
    from keras import ops

    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = ops.softmax(scores, axis=-1)
    else:
        hidden = ops.cast(ops.where(mask, 0.0, -math.inf), scores.dtype)
        weights = ops.softmax(scores + hidden, axis=-1)
        weights = ops.where(ops.any(mask, axis=-1, keepdims=True), weights, 0.0)
    return ops.matmul(weights, v), weights
