"""Sums down the columns for any `axis`, and uses one maximum for the whole array.

Exercise: softmax_numpy
Believes: columns contain the examples, as in some lectures, and no other axis is needed.
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
