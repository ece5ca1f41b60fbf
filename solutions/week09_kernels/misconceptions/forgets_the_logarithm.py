"""Returns the maximum plus the sum.

Exercise: logsumexp_rows
Believes: Adding the maximum back is the last step.
Shows: A sum of exponentials added to a maximum.
Hint: Undo the exponential before you add the maximum.
Rejected by: test_values
Costs: 35 %
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
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), highest + total)
    tl.store(y + row, answer)
