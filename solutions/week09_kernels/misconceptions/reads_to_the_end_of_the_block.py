"""Loads the last block without a mask, and hides the rest of it afterwards.

Exercise: logsumexp_rows
Believes: What is not used does no harm.
Shows: The right result in the interpreter, but the kernel reads memory that does not belong to the
    row.
Hint: `tl.where` comes after the load. What has the load done by then?
Rejected by: test_inside
Costs: 25 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.where(columns < m, tl.load(place).to(tl.float32), -float("inf"))
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
