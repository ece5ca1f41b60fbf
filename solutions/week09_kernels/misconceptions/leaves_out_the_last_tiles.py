"""Rounds the number of tiles down.

Exercise: matmul
Believes: M / block tiles fit.
Shows: Rows and columns at the edges are never written.
Hint: How many tiles of 16 does it take to cover 20 rows?
Rejected by: test_edges
Costs: 25 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (max(M // block, 1), max(N // block, 1))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
