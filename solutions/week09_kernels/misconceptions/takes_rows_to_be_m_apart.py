"""Takes the rows to be m elements apart.

Exercise: softmax_rows
Believes: A matrix of m columns has a new row every m elements.
Shows: Right unless the matrix was cut out of a wider one, or transposed.
Hint: What is x.stride(0) of x = torch.zeros(4, 10)[:, :6]?
Rejected by: test_strides
Costs: 25 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * m + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
