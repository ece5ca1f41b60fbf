"""Gives hidden entries a score of 0 or close to it, then zeroes their weights.

Exercise: keras_attention
Believes: a small negative number hides, and zeros afterwards make sure.
Shows: hidden keys get 0, but the others share less than 1 among them.
Hint: Sum your rows. Who has the rest, at the time of the division?
Rejected by: test_mask
Costs: 35 %
"""

def keras_attention(q, k, v, mask=None):
    from keras import ops

    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = ops.softmax(scores, axis=-1)
    else:
        weights = ops.softmax(ops.where(mask, scores, -1e-12), axis=-1)
        weights = ops.where(mask, weights, 0.0)
    return ops.matmul(weights, v), weights
