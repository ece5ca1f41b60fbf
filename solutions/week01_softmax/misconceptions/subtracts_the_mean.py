"""Subtracts the mean of each row; an entry far above the mean still overflows.

Exercise: softmax_numpy
Believes: centring a row makes it safe.
Shows: right while a row's entries are close together, NaN where they are far apart.
Hint: What is the largest number that is left after your shift, and how large could it be?
Rejected by: test_large_scores
Costs: 30 %
Belief: overflow
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(x - x.mean(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)
