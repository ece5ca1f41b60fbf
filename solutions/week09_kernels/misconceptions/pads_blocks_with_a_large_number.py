"""Puts a finite number such as -1e9 behind the end of a row.

Exercise: logsumexp_rows
Believes: -1e9 is as good as -inf.
Shows: Right as long as a row has a finite score; a row of nothing but -inf gets -1e9, and places
    behind its end count there.
Hint: What is the largest number of a row of -inf that is padded with your number?
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
        scores = tl.load(place, mask=columns < m, other=-1e9).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
