"""Loads a whole block for rows of any length.

Exercise: softmax_rows
Believes: A block that is too long does no harm.
Shows: The next row's scores, or memory of something else, take part.
Hint: Print the block's length and the row's. What do the elements in between contain?
Rejected by: test_rows_of_any_length
Costs: 35 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
