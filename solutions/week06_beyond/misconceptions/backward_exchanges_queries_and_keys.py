"""Returns the gradient of the keys in the place of that of the queries, and vice versa.

Exercise: attention_backward
Believes: both are products of the same matrices, so their order makes no difference.
Shows: with as many keys as queries the shapes are right and the values exchanged.
Hint: Compare the shapes of your results with those of q and k for three queries and five keys.
Rejected by: test_order
Costs: 35 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    grad_q, grad_k, grad_v = _right(q, k, v, grad_out, mask)
    return grad_k, grad_q, grad_v
