"""Lets the maximum and the sum lose their axis, so that NumPy pairs them with the wrong entries.

Exercise: softmax_numpy
Believes: NumPy knows which axis a sum came from.
Shows: an error for most shapes, silently wrong numbers for square ones; right for a single row.
Hint: Print the shapes of your array and of its row sums. Along which axis does broadcasting line
    them up?
Rejected by: test_single_entry
Costs: 40 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=axis))
    return exponentials / exponentials.sum(axis=axis)
