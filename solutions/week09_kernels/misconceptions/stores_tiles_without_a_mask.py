"""Stores tiles without a mask.

Exercise: matmul
Believes: Zeros past the edge do no harm.
Shows: They are written into the next rows, and past the end of the result.
Hint: The tile at the right edge is wider than what is left. Where does its last column go?
Rejected by: test_inside
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
            mask=(rows[:, None] < M) & (inner[None, :] < K),
            other=0.0,
        )
        b_tile = tl.load(
            b + inner[:, None] * b_row + columns[None, :] * b_column,
            mask=(inner[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total)
