"""Leaves the inner axis unmasked.

Exercise: matmul
Believes: The sum runs over what is there.
Shows: If K is not a multiple of the block, the last step multiplies elements past the end.
Hint: K is 40 and the block 16: which inner places does the third step load?
Rejected by: test_inner_sizes
Costs: 30 %
"""


@triton.jit
def _matmul_kernel(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr
):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.float32)
    for start in range(0, K, block):
        inner = start + tl.arange(0, block)
        a_tile = tl.load(
            a + rows[:, None] * a_row + inner[None, :] * a_column,
            mask=(rows[:, None] < M),
            other=0.0,
        )
        b_tile = tl.load(
            b + inner[:, None] * b_row + columns[None, :] * b_column,
            mask=(columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total, mask=inside)
