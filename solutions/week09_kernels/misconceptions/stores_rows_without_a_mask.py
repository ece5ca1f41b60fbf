"""Stores rows without a mask.

Exercise: softmax_rows
Believes: What was masked once stays masked.
Shows: Each program writes past the end of its row, and the last one past the end of the result; if
    programs run in order, the next one overwrites it.
Hint: What does `tl.store` do with the places past the end of the row?
Rejected by: test_inside
Costs: 30 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights)
