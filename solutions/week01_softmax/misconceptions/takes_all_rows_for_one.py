"""Takes all rows for one: the maximum and the sum go over the whole array.

Exercise: softmax_numpy
Believes: the formula is written for a vector, and NumPy does the rest.
Shows: right for a single row; with several, all entries together sum to 1.
Hint: Add up the weights of each row of a matrix. How many rows should sum to 1?
Rejected by: test_values
Costs: 45 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()
