"""Takes element (i, j) of b to be at i·N + j.

Exercise: matmul
Believes: Element (i, j) is at i * N + j.
Shows: Right unless b is a view.
Hint: What are the strides of b.T?
Rejected by: test_strides
Costs: 25 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), N, 1, *c.stride(), block=block
    )
    return c
