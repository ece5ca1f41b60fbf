"""Takes the size of the values for the size of the head.

Exercise: attention_backward
Believes: queries, keys and values have the same number of features.
Shows: right for values as wide as the keys, wrong for all others.
Hint: Which two vectors does the scaled dot product multiply? How many features do they have?
Rejected by: test_size_of_the_values
Costs: 30 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    factor = (q.shape[-1] / v.shape[-1]) ** 0.25
    grad_q, grad_k, grad_v = _right(q * factor, k * factor, v, grad_out, mask)
    return grad_q * factor, grad_k * factor, grad_v
