"""Adds the exponentials up one after the other, in their own type.

Exercise: softmax
Believes: addition gives the same result in any order and dtype.
Shows: in half precision a sum of 2048 no longer grows by 1: long rows sum to more than 1.
Hint: What is 2048 + 1 in float16? Which type should a sum of thousands have while it grows?
Rejected by: test_long_rows
Costs: 20 %
Belief: adds_in_half_precision
"""


def _added(x, dim):
    total, *rest = x.unbind(dim)
    for entries in rest:
        total = total + entries
    return total.unsqueeze(dim)


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return exponentials / _added(exponentials, dim)
