"""Normalises over axis 1, which holds the keys only for inputs without a batch.

Exercise: scaled_dot_product_attention
Believes: the keys are on axis 1.
Shows: right for matrices; with a batch the queries compete, with heads the heads do.
Hint: Sum the weights of a batch over their last axis. Which axis did your softmax take?
Rejected by: test_batches
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=1)
    return weights @ v, weights
