"""Writes the weights into x.

Exercise: softmax_rows
Believes: The scores are not needed any more.
Shows: The caller's matrix is changed.
Hint: Who else may still need x?
Rejected by: test_values
Costs: 20 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = x
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
