"""Subtracts the maximum only if it is above 0.

Exercise: softmax_rows
Believes: Only large positive scores are dangerous.
Shows: In rows far below zero all exponentials become 0, and 0 / 0 is NaN.
Hint: What are the exponentials of a row of -1000 and -1001 in your kernel, and what is their sum?
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
    exponentials = tl.exp(scores - tl.maximum(tl.max(scores, axis=0), 0.0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
