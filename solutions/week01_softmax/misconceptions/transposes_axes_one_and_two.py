"""Swaps axes 1 and 2 of the keys, which fits a single batch axis only.

Exercise: scaled_dot_product_attention
Believes: there is always exactly one leading axis.
Shows: right for a batch; an error without one, and heads mixed with keys where there are two.
Hint: Try a plain matrix, and a tensor with heads. Count the axes from the other end.
Rejected by: test_batches
Costs: 25 %
Belief: batch_axes
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]))
    return weights @ v, weights
