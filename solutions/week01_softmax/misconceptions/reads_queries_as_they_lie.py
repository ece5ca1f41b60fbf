"""Reads the queries in the order in which they lie in memory.

Exercise: scaled_dot_product_attention_numpy
Believes: an array is a row of numbers in memory, and its shape says how to cut it.
Shows: transposed queries give the scores of other queries.
Hint: What does `q.T` change in memory? Index the array instead of walking through its memory.
Rejected by: test_views
Costs: 20 %
Belief: reads_memory
"""


def _in_memory(x):
    """Return the numbers in memory order."""
    return np.lib.stride_tricks.as_strided(x, x.shape, np.empty_like(x, order="C").strides)


def scaled_dot_product_attention_numpy(q, k, v):
    scores = _in_memory(q) @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    weights = softmax_numpy(scores, axis=-1)
    return weights @ v, weights
