"""Subtracts the maximum of a first block of -inf, and treats only a row of -inf separately.

Exercise: logsumexp_rows
Believes: Only a row of nothing but -inf needs a case of its own.
Shows: A row that begins with a block of -inf becomes NaN.
Hint: What is the maximum after a first block of nothing but -inf, and what do you subtract it from?
Rejected by: test_minus_infinity
Costs: 20 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(scores - new), axis=0)
        highest = new
    empty = highest == -float("inf")
    answer = tl.where(empty, -float("inf"), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
