"""Returns the scores as the weights.

Exercise: scaled_dot_product_attention_numpy
Believes: the matrix before the softmax is the attention.
Shows: a right output, with "weights" whose rows do not sum to 1.
Hint: Sum the rows of the second thing you return.
Rejected by: test_values
Costs: 20 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax_numpy(scores) @ v, scores
