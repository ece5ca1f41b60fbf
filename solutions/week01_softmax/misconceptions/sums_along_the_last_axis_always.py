"""Sums along the last axis for any `axis`.

Exercise: softmax_numpy
Believes: each row has one sum, and rows lie along the last axis.
Shows: right for the default; for any other `axis` the sums over `axis` are not 1.
Hint: Call it with axis=0 on a matrix that is not square. Does every reduction in your code know of
    `axis`?
Rejected by: test_any_axis
Costs: 30 %
Belief: axis_ignored
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
