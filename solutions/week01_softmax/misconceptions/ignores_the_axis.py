"""Always works along the last axis and ignores `axis`.

Exercise: softmax_numpy
Believes: the last axis is the only one ever used.
Shows: right for the default, wrong for any other axis.
Hint: Call it with axis=0 on a matrix that is not square, and look at the sums of the columns.
Rejected by: test_any_axis
Costs: 30 %
Belief: axis_ignored
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
