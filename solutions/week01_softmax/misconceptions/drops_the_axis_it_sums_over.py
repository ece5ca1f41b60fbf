"""Lets the sum drop its axis, so that the division lines it up with the wrong one.

Exercise: softmax
Believes: broadcasting finds the right axis by itself.
Shows: a square matrix is divided along the wrong axis; most other shapes raise an error.
Hint: Print the shapes of the exponentials and of their sum. Which axes does broadcasting line up?
Rejected by: test_values
Costs: 40 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return exponentials / exponentials.sum(dim)
