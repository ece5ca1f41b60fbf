"""Makes the result in the dtype of a.

Exercise: matmul
Believes: A result has its inputs' dtype.
Shows: Float16 for float16 inputs instead of float32.
Hint: Read the docstring's "Returns".
Rejected by: test_float16_adds_up_in_float32
Costs: 20 %
"""


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
