"""Calls torch's softmax.

Exercise: softmax_rows
Believes: Torch has the fastest kernel anyway.
Shows: There is no kernel.
Hint: This week's point is the kernel.
Rejected by: test_values
Costs: 100 %
"""


def softmax_rows(x):
    return torch.softmax(x, dim=-1)
