"""Changes the caller's array in place.

Exercise: softmax_numpy
Believes: the argument is the function's own to overwrite.
Shows: the weights are right, but afterwards the caller's scores have another maximum.
Hint: Print your array before and after the call. Which of your operators writes into the array
    instead of making a new one?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def softmax_numpy(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    x -= x.max(axis=axis, keepdims=True)
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
