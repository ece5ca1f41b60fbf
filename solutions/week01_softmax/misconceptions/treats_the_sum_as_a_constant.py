"""Forgets that raising one score lowers every other weight: the denominator gets no gradient.

Exercise: softmax
Believes: the denominator is only a number to divide by.
Shows: right values; the gradients of a row do not sum to 0.
Hint: All weights of a row sum to 1. What does that say about the sum of their gradients?
Rejected by: test_gradients
Costs: 35 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True).detach())
    return exponentials / exponentials.sum(dim=dim, keepdim=True).detach()
