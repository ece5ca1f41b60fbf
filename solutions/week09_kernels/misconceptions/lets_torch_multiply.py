"""Calls torch's product.

Exercise: matmul
Believes: Torch has the fastest kernel anyway.
Shows: There is no kernel.
Hint: This week's point is the kernel.
Rejected by: test_values
Costs: 100 %
"""


def matmul(a, b, block=16):
    return a.float() @ b.float()
