"""Launches 16 × 16 programs at most, for any sizes.

Exercise: matmul
Believes: The grid is as large as a tile of the default size.
Shows: Right up to 256 rows and columns with a block of 16; beyond that the result contains
    uninitialised memory.
Hint: How many tiles does a matrix of 300 rows have, with a block of 16? The grid counts tiles, a
    tile counts elements.
Rejected by: test_many_tiles
Costs: 30 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = min(16, triton.cdiv(M, block)), min(16, triton.cdiv(N, block))
    _matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block)
    return c
