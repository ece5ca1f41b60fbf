"""Rounds the number of tiles down, to none where a side is smaller than a block.

Exercise: matmul
Believes: M // block is the number of tiles.
Shows: The last rows and columns are never written; a matrix smaller than a block gets no program.
Hint: How many tiles does a side of 20 make, with a block of 16, and a side of 5? `triton.cdiv` rounds up.
Rejected by: test_edges
Costs: 35 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int=16) -> torch.Tensor:
    (M, K), N = (a.shape, b.shape[1])
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (M // block, N // block)
    _matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block)
    return c
