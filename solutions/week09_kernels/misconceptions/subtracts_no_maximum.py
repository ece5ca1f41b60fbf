"""Exponentiates the raw scores.

Exercise: softmax_rows
Believes: A softmax is exponentials divided by their sum.
Shows: Large scores overflow: inf / inf is NaN.
Hint: What is the exponential of 100 in float32? Week 1 had a remedy.
Rejected by: test_large_scores
Costs: 30 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores)
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
