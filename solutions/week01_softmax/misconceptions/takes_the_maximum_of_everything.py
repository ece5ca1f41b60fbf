"""Subtracts the same number from every row.

Exercise: softmax
Believes: any shift will do, as long as nothing overflows.
Shows: rows far below the largest entry become 0/0, which is NaN.
Hint: What is left of a row near -1000 when another row's 0 is used as its maximum?
Rejected by: test_rows_of_different_magnitude
Costs: 35 %
Belief: global_maximum
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.max())
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
