"""Takes the scores' strides in the wrong order.

Exercise: softmax_rows
Believes: The first stride is that of the first thing in a row.
Shows: A program reads along a column, and outside of the matrix.
Hint: `x.stride()` has the rows' step first. What does one step along a row add to an address?
Rejected by: test_values
Costs: 35 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_column + columns * x_row
    scores = tl.load(place, mask=inside, other=-float('inf')).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
