"""Launches the tiles of rows along one axis, and counts them along the other.

Exercise: matmul
Believes: x comes before y.
Shows: The grid is made for rows and columns; with more columns than rows tiles are missing.
Hint: Which number of your grid counts tiles of rows, and which `program_id` does the kernel use
    for its rows?
Rejected by: test_edges
Costs: 30 %
"""


@triton.jit
def _matmul_kernel(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr
):
    rows = tl.program_id(1) * block + tl.arange(0, block)
    columns = tl.program_id(0) * block + tl.arange(0, block)
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
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total, mask=inside)
