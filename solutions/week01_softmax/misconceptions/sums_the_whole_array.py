"""Divides by the sum of the whole array, so that all entries together sum to 1.

Exercise: softmax_numpy
Believes: there is one total, also when there are several rows.
Shows: right for a single row; with several, each row sums to less than 1.
Hint: Add up the weights of each row of a matrix. How many rows should sum to 1?
Rejected by: test_values
Costs: 45 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum()
