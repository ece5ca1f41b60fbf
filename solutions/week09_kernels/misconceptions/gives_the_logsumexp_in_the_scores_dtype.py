"""Makes the result in the dtype of x.

Exercise: logsumexp_rows
Believes: A result has its input's dtype.
Shows: Float16 for float16 inputs instead of float32.
Hint: Read the docstring's "Returns".
Rejected by: test_float16
Costs: 20 %
"""


def logsumexp_rows(x: torch.Tensor, block: int = 64) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, dtype=x.dtype, device=x.device)
    _logsumexp_kernel[(n,)](x, y, m, *x.stride(), block=block)
    return y
