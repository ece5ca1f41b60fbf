"""Adds up the gradients of all sequences and heads.

Exercise: attention_backward
Believes: gradients of a batch are summed, as those of a weight are.
Shows: every sequence gets the sum of the gradients of all.
Hint: Is the query of one sequence used in another? What is summed for a weight of a Linear layer, and why?
Rejected by: test_any_leading_dimensions
Costs: 35 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    lead = tuple(range(q.dim() - 2))
    grads = _right(q, k, v, grad_out, mask)
    return tuple(g.sum(lead, keepdim=True).expand(g.shape) if lead else g for g in grads)
