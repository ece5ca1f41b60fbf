"""Returns integers for integer scores, so that weights below 1 become 0.

Exercise: softmax_numpy
Believes: the result should always have the type of the input.
Shows: integer scores give zeros, with a 1 at most where one score towers over the rest.
Hint: What is left of 0.7 in an array of integers?
Rejected by: test_integers
Costs: 20 %
"""


def softmax_numpy(x, axis=-1):
    wide = x.astype(np.float64)
    exponentials = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return (exponentials / exponentials.sum(axis=axis, keepdims=True)).astype(x.dtype)
