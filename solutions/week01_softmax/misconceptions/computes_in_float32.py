"""Computes in float32 inside, so that float64 scores lose half their digits.

Exercise: softmax_numpy
Believes: float32 is enough for anything.
Shows: a float64 answer that is right to seven digits only.
Hint: Compare the sum of a float64 row with 1, with all digits printed.
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_work
"""


def softmax_numpy(x, axis=-1):
    kind = x.dtype if np.issubdtype(x.dtype, np.floating) else np.dtype(np.float64)
    narrow = x.astype(np.float32)
    exponentials = np.exp(narrow - narrow.max(axis=axis, keepdims=True))
    return (exponentials / exponentials.sum(axis=axis, keepdims=True)).astype(kind)
