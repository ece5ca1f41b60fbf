"""Makes the result without naming a device, so that it is on the CPU.

Exercise: matmul
Believes: Tensors are made where they are needed.
Shows: On a GPU the kernel is given a pointer to the CPU's memory.
Hint: On which device does `torch.empty(M, N)` create its tensor?
Rejected by: test_device
Costs: 15 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
