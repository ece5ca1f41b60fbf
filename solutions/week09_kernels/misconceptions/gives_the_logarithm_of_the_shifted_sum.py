"""Returns the logarithm of the sum of the shifted exponentials.

Exercise: logsumexp_rows
Believes: The maximum is subtracted only against overflow, and cancels.
Shows: Too small by the maximum of the row.
Hint: What does your code return for a row of a single score of 5?
Rejected by: test_values
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
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
