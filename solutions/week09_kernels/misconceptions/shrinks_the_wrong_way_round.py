"""Multiplies the sum by the exponential of new minus old maximum.

Exercise: logsumexp_rows
Believes: The sum grows when a larger maximum is found.
Shows: The first block multiplies nothing by infinity: NaN.
Hint: The sum contains exponentials relative to the old maximum. Below a larger one, are they larger
    or smaller?
Rejected by: test_values
Costs: 35 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float('inf')
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float('inf')).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float('inf'), 0.0, new)
        total = total * tl.exp(shift - highest) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float('inf'), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
