"""Takes the elements of a row to be neighbours in memory.

Exercise: softmax_rows
Believes: The elements of a row lie side by side.
Shows: Right for matrices as they are made; for a transposed one it reads down the wrong axis.
Hint: Where does x[0, 1] lie in memory if x is a transposed matrix?
Rejected by: test_strides
Costs: 25 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
