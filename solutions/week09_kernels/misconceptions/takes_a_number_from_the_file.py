"""Uses a plain global variable in the kernel.

Exercise: softmax_rows
Believes: A kernel sees what every function sees.
Shows: The interpreter runs it; the compiler refuses a global that is not a `tl.constexpr`.
Hint: The compiler has to know all numbers that are not arguments. Write it in the kernel, hand it over, or make it a `tl.constexpr`.
Rejected by: test_a_gpu_would_take_it
Costs: 20 %
"""

LOG2_E = 1.4426950408889634


@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp2((scores - tl.max(scores, axis=0)) * LOG2_E)
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)
