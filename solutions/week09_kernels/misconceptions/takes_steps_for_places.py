"""Indexes the inner axis with the number of the step, as if it were an offset.

Exercise: matmul
Believes: A loop over the tiles gives the places at which they begin.
Shows: Tiles that overlap and are added up several times; right only where one step is enough.
Hint: K = 40 and block = 16: which places does the third step have to load, and which does it load?
Rejected by: test_values
Costs: 35 %
"""


@triton.jit
def _matmul_kernel(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr
):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.float32)
    for start in range(0, tl.cdiv(K, block)):
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
