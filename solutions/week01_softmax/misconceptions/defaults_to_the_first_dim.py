"""Works along the first dimension unless told otherwise; the default is the last.

Exercise: softmax
Believes: dim 0 is where a softmax goes.
Shows: without `dim`, the first dimension sums to 1.
Hint: Compare the default in your signature with the one in the assignment.
Rejected by: test_values
Costs: 25 %
Belief: default_axis
"""


def softmax(x, dim=0):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
