"""Goes through a row in blocks, and subtracts -inf from -inf where the first block is hidden.

Exercise: softmax_rows
Believes: there is a largest number in every block.
Shows: NaN in long rows that begin with a thousand entries of -inf.
Hint: What is the running maximum after a block of only -inf, and what is subtracted from it?
Rejected by: test_minus_infinity
Costs: 20 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(scores - new), axis=0)
        highest = new
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        weights = tl.exp(scores - highest) / total
        tl.store(y + row * y_row + columns * y_column, weights, mask=columns < m)


def softmax_rows(x):
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=1024)
    return y
