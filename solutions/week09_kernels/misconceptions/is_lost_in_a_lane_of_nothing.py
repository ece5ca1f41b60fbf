"""Keeps a maximum for each place in a block, and subtracts it even where it is -inf.

Exercise: logsumexp_rows
Believes: A maximum is a number.
Shows: NaN if one of the places has seen only -inf, which includes those past the end of a row.
Hint: Which maximum has a place that lies past the end of the row in every block? What do you
    subtract from it?
Rejected by: test_minus_infinity
Costs: 20 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = tl.full((block,), -float("inf"), tl.float32)
    total = tl.zeros((block,), tl.float32)
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, scores)
        total = total * tl.exp(highest - new) + tl.exp(scores - new)
        highest = new
    most = tl.max(highest, axis=0)
    shift = tl.where(most == -float("inf"), 0.0, most)
    tl.store(y + row, shift + tl.log(tl.sum(total * tl.exp(highest - shift), axis=0)))
