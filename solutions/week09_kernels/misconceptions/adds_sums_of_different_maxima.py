"""Keeps a maximum for each place in a block, and adds the places' sums as they are.

Exercise: logsumexp_rows
Believes: A sum of sums needs no maximum.
Shows: Too large, unless all places have the same maximum.
Hint: Which maximum does the sum of each place refer to, and which one do you add at the end?
Rejected by: test_values
Costs: 25 %
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
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.exp(scores - shift)
        highest = new
    everything = tl.sum(total, axis=0)
    empty = everything == 0
    answer = tl.max(highest, axis=0) + tl.log(tl.where(empty, 1.0, everything))
    tl.store(y + row, tl.where(empty, -float("inf"), answer))
