"""Sums down the columns, whatever `axis` is, and takes one maximum for everything.

Exercise: softmax_numpy
Believes: examples stand in the columns, as in some lectures, and nobody asks for another axis.
Shows: the columns sum to 1 instead of the rows; entries far below the maximum become 0/0.
Hint: Which axis of your result sums to 1? Which one should, according to `axis`?
Rejected by: test_values
Costs: 70 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max())
    with np.errstate(invalid="ignore"):
        return exponentials / exponentials.sum(axis=0)
