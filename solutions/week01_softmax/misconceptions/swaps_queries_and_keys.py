"""Puts the keys in the rows and the queries in the columns.

Exercise: scaled_dot_product_attention_numpy
Believes: the order of the product does not matter.
Shows: an error unless there are as many keys as queries; then each key looks among the queries.
Hint: The weights need a row per query. Which factor decides the number of rows?
Rejected by: test_values
Costs: 40 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(k @ np.swapaxes(q, -1, -2) / math.sqrt(q.shape[-1]))
    return weights @ v, weights
