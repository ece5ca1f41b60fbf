"""Subtracts the largest magnitude of a row, and includes the padding.

Exercise: softmax_rows
Believes: What has to go down to 0 is the largest number without its sign.
Shows: NaN in every row that does not fill its block: the padding is -inf, whose magnitude exceeds
    all others.
Hint: Which score of the row -1000, -1001 should become 0? Which number do you subtract, and which
    if a third element is -inf?
Rejected by: test_values
Costs: 30 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(tl.abs(scores), axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
