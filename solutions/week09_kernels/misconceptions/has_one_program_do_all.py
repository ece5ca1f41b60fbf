"""Launches one program, which loops over the rows.

Exercise: softmax_rows
Believes: A kernel is called once.
Shows: The right weights, but only one processor of the GPU works.
Hint: Who should take row 1 while program 0 is busy with row 0?
Rejected by: test_one_program_for_each_row
Costs: 25 %
"""


@triton.jit
def _softmax_kernel(x, y, n, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    columns = tl.arange(0, block)
    inside = columns < m
    for row in range(n):
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
        exponentials = tl.exp(scores - tl.max(scores, axis=0))
        weights = exponentials / tl.sum(exponentials, axis=0)
        tl.store(y + row * y_row + columns * y_column, weights, mask=inside)


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(1,)](x, y, n, m, *x.stride(), *y.stride(), block=block)
    return y
