"""Makes the block as long as the row.

Exercise: softmax_rows
Believes: Then no mask is needed.
Shows: Triton refuses a range whose length is not a power of two.
Hint: What lengths may `tl.arange` have?
Rejected by: test_values
Costs: 30 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = m
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
