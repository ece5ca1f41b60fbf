"""Loads the row from memory more than once.

Exercise: softmax_rows
Believes: Loading is cheap; the row is in the cache anyway.
Shows: The right weights, but each row is read from memory three times.
Hint: After the first `tl.load` the program holds the whole row. What is the next one for? See
    section 1 of the lesson.
Rejected by: test_each_row_is_loaded_once
Costs: 20 %
"""


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    highest = tl.max(tl.load(place, mask=inside, other=-float("inf")).to(tl.float32), axis=0)
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    total = tl.sum(tl.exp(scores - highest), axis=0)
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    weights = tl.exp(scores - highest) / total
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
