"""Multiplies the scores by the root of the head size.

Exercise: scaled_dot_product_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
Belief: scale_upside_down
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** -0.5
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
