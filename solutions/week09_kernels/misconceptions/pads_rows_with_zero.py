"""Loads zeros past the end of a row.

Exercise: softmax_rows
Believes: Missing elements are zero.
Shows: Each place past the end takes a share; the weights are too small, and very small if all
    scores are below zero.
Hint: What does a place past the end do to the maximum, and what to the sum? Which number changes
    neither?
Rejected by: test_negative_scores
Costs: 30 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
