"""Uses blocks of 1024 for rows of any length.

Exercise: softmax_rows
Believes: 1024 is enough.
Shows: The end of a longer row is neither read nor written.
Hint: How long may a row be? `triton.next_power_of_2` knows the block for it.
Rejected by: test_rows_of_any_length
Costs: 25 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = 1024
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
