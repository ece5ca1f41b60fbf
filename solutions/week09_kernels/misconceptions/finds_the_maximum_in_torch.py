"""Finds each row's maximum in torch, and hands it to the kernel.

Exercise: softmax_rows
Believes: The kernel is for the exponentials.
Shows: The matrix is read twice, once by torch.
Hint: The row is in the kernel already, as a block: `tl.max` finds its maximum there.
Rejected by: test_the_kernel_does_the_work
Costs: 50 %
"""


@triton.jit
def _softmax_kernel(x, y, tops, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.load(tops + row).to(tl.float32))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, x.amax(1), m, *x.stride(), *y.stride(), block=block)
    return y
