"""Exponentiates in the kernel, and sums and divides in torch.

Exercise: softmax_rows
Believes: The kernel is for the hard part.
Shows: The right weights, carried through memory three times more.
Hint: How often is the matrix read and written now? Which steps could the kernel do after loading
    the row?
Rejected by: test_the_kernel_does_the_work
Costs: 50 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    tl.store(y + row * y_row + columns * y_column, exponentials, mask=inside)


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y / y.sum(-1, keepdim=True)
