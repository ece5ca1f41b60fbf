"""Adds to what other programs add to, and counts the finished programs with an atomic operation.

Exercise: matmul
Believes: One atomic operation makes the whole kernel safe.
Shows: Right in the interpreter. On a GPU several programs read the same old sum, and most of their
    additions are lost. The counter is right.
Hint: Which elements does your atomic operation protect, and which ones do two programs load and store without it?
    See section 7 of the lesson.
Same as: adds_to_what_others_write because the counter changes nothing about the sum
Rejected by: test_any_order
Costs: 30 %
"""


@triton.jit
def _matmul_kernel(
    a, b, c, finished, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    block: tl.constexpr,
):  # fmt: skip
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
    tl.atomic_add(finished, 1)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    place = c + rows[:, None] * c_row + columns[None, :] * c_column
    total = tl.load(place, inside, 0.0)
    total = tl.dot(a_tile, b_tile, total, input_precision="ieee")
    tl.store(place, total, mask=inside)


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros(M, N, dtype=torch.float32, device=a.device)
    finished = torch.zeros(1, dtype=torch.int32, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block), triton.cdiv(K, block))
    _matmul_kernel[grid](
        a, b, c, finished, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
