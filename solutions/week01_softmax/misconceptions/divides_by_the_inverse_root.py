"""Divides the scores by d**-0.5, which multiplies them by the root.

Exercise: scaled_dot_product_attention_numpy
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: What is 1 / d**-0.5? How large are the scores before and after your scale?
Rejected by: test_values
Costs: 30 %
Belief: scale_upside_down
"""

def scaled_dot_product_attention_numpy(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** -0.5
    weights = softmax_numpy(scores, axis=-1)
    return weights @ v, weights
