"""Reverses all axes of the keys, including batch axes.

Exercise: scaled_dot_product_attention_numpy
Believes: `.T` swaps the last two axes.
Shows: right for one sentence, an error (or wrong pairs) for a batch.
Hint: Which shape do keys of shape (2, 5, 7) have after your transposition? Name the two axes you
want to swap.
Rejected by: test_batches
Costs: 25 %
Belief: batch_axes
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ k.T / math.sqrt(q.shape[-1]))
    return weights @ v, weights
