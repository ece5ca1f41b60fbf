"""Multiplies the scores by the root of the head size instead of dividing.

Exercise: scaled_dot_product_attention
Believes: large scores need to be made larger, or the inverse was taken twice.
Shows: the weights are close to one-hot.
Hint: Should a longer query give sharper or calmer weights after the scale? Check the direction with
    d = 100.
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) * math.sqrt(q.shape[-1]))
    return weights @ v, weights
