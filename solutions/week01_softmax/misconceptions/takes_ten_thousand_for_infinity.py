"""Replaces -inf by a large negative number, which is not below every score.

Exercise: softmax_numpy
Believes: -1e4 is as good as -inf.
Shows: in a row of scores around -2e4 the hidden entry gets all the weight.
Hint: Which finite number is smaller than every score a caller might hand in? Do you need one at
    all?
Rejected by: test_minus_infinity
Costs: 20 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    x = np.where(np.isneginf(x), x.dtype.type(-1e4), x)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
