"""Exponentiates the raw scores inside the attention, so that large scores overflow.

Exercise: scaled_dot_product_attention_numpy
Believes: scaled scores are always small.
Shows: right for ordinary inputs, NaN once queries and keys are large.
Hint: You have already written a softmax that survives large scores. What is different about the one
in your attention?
Rejected by: test_large_scores
Costs: 20 %
Belief: overflow
"""


def scaled_dot_product_attention_numpy(q, k, v):
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]))
        weights = grown / grown.sum(axis=-1, keepdims=True)
        return weights @ v, weights
