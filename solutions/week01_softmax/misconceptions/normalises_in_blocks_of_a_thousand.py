"""Works through long rows in blocks, each normalised on its own.

Exercise: softmax_numpy
Believes: a long row can be cut into parts that are done one after the other.
Shows: each block of a long row sums to 1, and the row to the number of its blocks.
Hint: Over what does the sum of the definition run? A row of 1500 entries has how many sums?
Rejected by: test_long_rows
Costs: 30 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    blocks = []
    for block in np.split(x, range(1000, x.shape[axis], 1000), axis=axis):
        exponentials = np.exp(block - x.max(axis=axis, keepdims=True))
        blocks.append(exponentials / exponentials.sum(axis=axis, keepdims=True))
    return np.concatenate(blocks, axis=axis)
