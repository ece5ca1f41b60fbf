"""Reads the head size from axis 1, where it is only for inputs without a batch.

Exercise: scaled_dot_product_attention
Believes: the shape is always (tokens, numbers).
Shows: right for matrices; a batch is scaled by its number of queries.
Hint: In the shapes of the docstring, from which end can you count to d?
Rejected by: test_batches
Costs: 25 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[1]))
    return weights @ v, weights
