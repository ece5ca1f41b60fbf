"""Sums along the last dimension for any `dim`.

Exercise: softmax
Believes: each row has one sum, and rows lie along the last dimension.
Shows: right for dim=-1; for any other `dim` the sums over `dim` are not 1.
Hint: Call it with dim=0 on a matrix that is not square. Does every reduction in your code know of
    `dim`?
Rejected by: test_any_dim
Costs: 30 %
Belief: axis_ignored
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
