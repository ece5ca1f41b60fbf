"""Transposes the keys with `.T`, which reverses all axes, including batch axes.

Exercise: scaled_dot_product_attention_numpy
Believes: `.T` swaps the last two axes.
Shows: right for one sentence, an error (or wrong pairs) for a batch.
Hint: What is the shape of `.T` of an array of shape (2, 5, 7)? Name the two axes you want to swap.
Rejected by: test_batches
Costs: 25 %
Belief: batch_axes
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ k.T / math.sqrt(q.shape[-1]))
    return weights @ v, weights
