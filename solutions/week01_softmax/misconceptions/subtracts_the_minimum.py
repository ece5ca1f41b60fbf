"""Subtracts the smallest score of a row, so that the largest overflows.

Exercise: softmax
Believes: starting every row at 0 keeps it small.
Shows: right while a row's entries are close together, NaN if they are far apart or contain -inf.
Hint: After your shift, which entry is largest, and is there a bound on it?
Rejected by: test_large_scores
Costs: 35 %
Belief: overflow
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amin(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
