"""Uses tiles of a fixed size and ignores the requested size.

Exercise: matmul
Believes: Larger tiles are faster.
Shows: The loads are larger than the block that the caller chose.
Hint: Which argument states the size of a tile?
Rejected by: test_tiles
Costs: 20 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    block = 32
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
