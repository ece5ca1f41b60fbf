"""Counts addresses by the number of columns: row * m + column.

Exercise: softmax_rows
Believes: A matrix is stored row after row, without gaps.
Shows: Right for what was just made; of a view, elements of others are read.
Hint: A transposed matrix, or every second row: how far apart do its elements lie? `x.stride()` says
    it for both axes.
Rejected by: test_strides
Costs: 30 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * m + columns
    scores = tl.load(place, mask=inside, other=-float('inf')).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
