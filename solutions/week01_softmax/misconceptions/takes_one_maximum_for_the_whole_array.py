"""Subtracts the same number from every row.

Exercise: softmax_numpy
Believes: any shift will do, as long as nothing overflows.
Shows: rows far below the largest entry underflow to 0/0, which is NaN.
Hint: Feed it two rows, one near 0 and one near -1000. What is left of the second row after the
    exponential?
Rejected by: test_rows_of_different_magnitude
Costs: 35 %
Belief: global_maximum
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max())
    with np.errstate(invalid="ignore"):
        return exponentials / exponentials.sum(axis=axis, keepdims=True)
