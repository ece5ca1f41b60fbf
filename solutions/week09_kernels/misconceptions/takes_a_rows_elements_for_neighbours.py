"""Takes the elements of a row to be neighbours in memory.

Exercise: logsumexp_rows
Believes: The elements of a row lie side by side.
Shows: Right for matrices as they are made; wrong for a transposed one.
Hint: Where does x[0, 1] lie in memory if x is a transposed matrix?
Rejected by: test_strides
Costs: 25 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
