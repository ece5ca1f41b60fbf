"""Multiplies the scores by the root of the head size.

Exercise: scaled_dot_product_attention_numpy
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
Belief: scale_upside_down
"""

def scaled_dot_product_attention_numpy(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** -0.5
    weights = softmax_numpy(scores, axis=-1)
    return weights @ v, weights
