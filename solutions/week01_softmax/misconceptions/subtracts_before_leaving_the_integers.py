"""Takes the maximum away while the numbers are still integers, where small types wrap around.

Exercise: softmax_numpy
Believes: only the exponential needs floats.
Shows: right for 64-bit integers; in int8, -100 - 100 is 56, and the smallest score gets the largest
    weight.
Hint: Compute -100 - 100 with two np.int8 numbers. When should the scores become floats?
Rejected by: test_small_integers
Costs: 15 %
"""


def softmax_numpy(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    if not np.issubdtype(x.dtype, np.floating):
        shifted = shifted.astype(np.float64)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
