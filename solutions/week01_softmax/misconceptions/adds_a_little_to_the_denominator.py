"""Adds a small number to the denominator, as if the sum could be 0.

Exercise: softmax_numpy
Believes: every division needs a guard.
Shows: the weights of a row sum to a little less than 1; in float64 the difference is visible.
Hint: After the shift, what is the smallest value that the sum of a row can have?
Rejected by: test_float_types
Costs: 20 %
Belief: guards_the_denominator
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / (exponentials.sum(axis=axis, keepdims=True) + 1e-8)
