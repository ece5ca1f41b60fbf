"""Launches the grid with its axes the other way round than the kernel counts them.

Exercise: matmul
Believes: the grid is columns by rows, as x comes before y.
Shows: right for as many rows as columns of tiles; otherwise some tiles of the result are never
    written.
Hint: Which number of your grid counts tiles of rows, and which `program_id` does the kernel use for
    its rows?
Rejected by: test_values
Costs: 30 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros(M, N, dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(N, block), triton.cdiv(M, block))
    _matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block)
    return c
