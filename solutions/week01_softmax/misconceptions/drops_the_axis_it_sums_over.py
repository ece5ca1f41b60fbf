"""Lets the sum drop its axis, so that it meets the wrong one in the division.

Exercise: softmax
Believes: broadcasting finds the axis that belongs.
Shows: a matrix with as many rows as columns is divided along the wrong axis; any other shape is refused.
Hint: Print the shapes of the exponentials and of their sum. Which axes does broadcasting line up?
Rejected by: test_values
Costs: 50 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return exponentials / exponentials.sum(dim)
