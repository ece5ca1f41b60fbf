"""Reads the array in memory order.

Exercise: softmax_numpy
Believes: an array is a row of numbers in memory, and its shape says how to cut it.
Shows: transposed and strided views give the weights of other entries.
Hint: What does `x.T` change in memory? Index the array instead of walking through its memory.
Rejected by: test_views
Costs: 20 %
Belief: reads_memory
"""


def _in_memory(x):
    """Return the numbers in memory order."""
    return np.lib.stride_tricks.as_strided(x, x.shape, np.empty_like(x, order="C").strides)


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    x = _in_memory(x)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
