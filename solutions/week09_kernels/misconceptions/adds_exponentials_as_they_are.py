"""Sums the exponentials without a maximum.

Exercise: logsumexp_rows
Believes: The logarithm brings large numbers back.
Shows: Large scores overflow before the logarithm sees them; very small ones all become 0.
Hint: What is the exponential of 100 in float32?
Rejected by: test_large_scores
Costs: 30 %
"""


@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        shift = 0.0
        total = total + tl.sum(tl.exp(scores - shift), axis=0)
    empty = total == 0
    answer = tl.where(empty, -float("inf"), tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)
