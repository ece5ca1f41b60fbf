"""Adds a small number to the denominator, as if the sum could be 0.

Exercise: softmax
Believes: every division needs a guard.
Shows: rows sum to a little less than 1; in float64 the difference is visible.
Hint: After the shift the largest exponential is 1. How small can the sum become?
Rejected by: test_float_types
Costs: 20 %
Belief: guards_the_denominator
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / (exponentials.sum(dim=dim, keepdim=True) + 1e-9)
