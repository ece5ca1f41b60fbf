"""Subtracts the largest magnitude of a row.

Exercise: softmax_rows
Believes: What has to go down to 0 is the largest number without its sign.
Shows: Right for small scores; if the largest magnitude is that of a score far below zero, all
    exponentials become 0, and 0 / 0 is NaN.
Hint: Which score of the row -1000, -1001 should become 0? Which number do you subtract?
Rejected by: test_large_scores
Costs: 20 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(tl.where(inside, tl.abs(scores), 0.0), axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
