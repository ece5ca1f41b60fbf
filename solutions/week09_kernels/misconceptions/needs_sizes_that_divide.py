"""Masks nothing.

Exercise: matmul
Believes: Matrices have sizes that are powers of two.
Shows: With other sizes tiles extend past the matrices: that memory is read and
    overwritten.
Hint: Which rows does the last tile have if M is 20 and the block 16?
Rejected by: test_edges
Costs: 35 %
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
        )
        b_tile = tl.load(
            b + inner[:, None] * b_row + columns[None, :] * b_column,
        )
        total = tl.dot(a_tile, b_tile, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total)
