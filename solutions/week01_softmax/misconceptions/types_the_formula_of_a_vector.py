"""Types exp(x) / sum(exp(x)) literally: one sum for all rows, and no guard against overflow.

Exercise: softmax_numpy
Believes: the formula is written for a vector, and NumPy does the rest.
Shows: all entries together sum to 1, not each row; large scores give NaN.
Hint: Try a matrix and add up each of its rows; then try a row like [1000, 1001]. Two things are
    missing, one for each.
Rejected by: test_values
Costs: 80 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(x)
        return exponentials / exponentials.sum()
