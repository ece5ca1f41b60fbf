"""Takes the exponential of the raw scores, so that large scores overflow and small ones vanish.

Exercise: softmax_numpy
Believes: the formula exp(x) / sum(exp(x)) can be typed literally.
Shows: NaN for scores above 88 in float32 or 709 in float64, and 0/0 for very negative ones.
Hint: Try a row like [1000, 1001]. Which number could you subtract from a whole row without
    changing its softmax?
Rejected by: test_large_scores
Costs: 35 %
Belief: overflow
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        exponentials = np.exp(x)
        return exponentials / exponentials.sum(axis=axis, keepdims=True)
