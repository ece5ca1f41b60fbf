"""Takes b's strides in the wrong order.

Exercise: matmul
Believes: The first stride belongs to the inner axis of the tile.
Shows: Right for no b that lies row by row; addresses outside of b are read.
Hint: `b.stride()` has the rows' step first. What does one step along b's rows add to an address?
Rejected by: test_values
Costs: 35 %
"""


@triton.jit
def _matmul_kernel(a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.float32)
    for start in range(0, K, block):
        inner = start + tl.arange(0, block)
        a_tile = tl.load(a + rows[:, None] * a_row + inner[None, :] * a_column, mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        b_tile = tl.load(b + inner[:, None] * b_column + columns[None, :] * b_row, mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(a_tile, b_tile, total, input_precision='ieee')
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total, mask=inside)
