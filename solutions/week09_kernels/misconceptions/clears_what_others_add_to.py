"""Has the program of the first step clear the tile that all programs then add to atomically.

Exercise: matmul
Believes: Atomic additions make the kernel safe, and the first program runs first.
Shows: Right in the interpreter. On a GPU the tile may be cleared when other programs have added to it.
Hint: Your additions are atomic. Is the store that clears the tile done before them? See section 7 of the lesson.
Rejected by: test_any_order
Costs: 20 %
"""


@triton.jit
def _matmul_kernel(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr
):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    inner = tl.program_id(2) * block + tl.arange(0, block)
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
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    place = c + rows[:, None] * c_row + columns[None, :] * c_column
    if tl.program_id(2) == 0:
        tl.store(place, tl.zeros((block, block), tl.float32), mask=inside)
    tl.atomic_add(place, tl.dot(a_tile, b_tile, input_precision="ieee"), mask=inside)


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block), triton.cdiv(K, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
