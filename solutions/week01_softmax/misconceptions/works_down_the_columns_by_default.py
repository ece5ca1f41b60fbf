"""Works along the first axis unless told otherwise; the default is the last.

Exercise: softmax_numpy
Believes: axis 0 is where a softmax goes.
Shows: without `axis`, the columns sum to 1 instead of the rows.
Hint: Compare the default in your signature with the one in the assignment.
Rejected by: test_values
Costs: 25 %
Belief: default_axis
"""


def softmax_numpy(x, axis=0):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
