"""Clips large scores to a bound, so that two scores beyond it look equal.

Exercise: softmax_numpy
Believes: numbers that large are all the same.
Shows: no overflow, but in float32 the scores [100, 90] get the weights 1/2 and 1/2.
Hint: A softmax depends on differences only. What happens to the difference of two scores above your
    bound?
Rejected by: test_shifted_rows
Costs: 30 %
Belief: overflow
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    bound = 80 if x.dtype == np.float32 else 700 if x.dtype == np.float64 else 8
    exponentials = np.exp(np.clip(x, -bound, bound))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
