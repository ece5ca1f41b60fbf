"""Takes elements of a row to be neighbours, in the scores and in the weights.

Exercise: softmax_rows
Believes: The elements of a row lie side by side in every matrix.
Shows: Right for matrices as they are made; for a transposed one both access other elements.
Hint: Where does x[0, 1] lie in memory if x is a transposed matrix, and where y[0, 1] if y is
    made like x?
Rejected by: test_strides
Costs: 25 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, y_row, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    scores = tl.load(x + row * x_row + columns, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns, weights, mask=inside)


def softmax_rows(x):
    n, m = x.shape
    y = torch.empty_like(x)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, x.stride(0), y.stride(0), block=block)
    return y
