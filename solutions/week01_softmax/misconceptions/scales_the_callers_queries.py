"""Scales the queries in place and so changes the caller's array.

Exercise: scaled_dot_product_attention_numpy
Believes: the argument is the function's own to overwrite.
Shows: right values, but a second call with the same queries gives other ones.
Hint: Call it twice with the same arrays. Which operator writes into its left side?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def scaled_dot_product_attention_numpy(q, k, v):
    q /= math.sqrt(q.shape[-1])
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights
