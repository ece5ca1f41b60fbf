"""Takes the maximum away above the fraction bar only.

Exercise: softmax_numpy
Believes: the shift protects the numerator; the denominator can stay.
Shows: the weights of a row sum to exp(-max) instead of 1.
Hint: The shift is free only because it cancels. From what must it be taken for that?
Rejected by: test_values
Costs: 45 %
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.exp(x - x.max(axis=axis, keepdims=True)) / np.exp(x).sum(axis=axis, keepdims=True)
