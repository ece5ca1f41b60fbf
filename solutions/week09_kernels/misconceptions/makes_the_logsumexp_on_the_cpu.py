"""Makes the result without naming a device, so that it is on the CPU.

Exercise: logsumexp_rows
Believes: Tensors are made where they are needed.
Shows: On a GPU the kernel is given a pointer to the CPU's memory.
Hint: On which device does `torch.empty(n)` create its tensor?
Rejected by: test_device
Costs: 15 %
"""


def logsumexp_rows(x: torch.Tensor, block: int = 64) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, dtype=torch.float32)
    _logsumexp_kernel[(n,)](x, y, m, *x.stride(), block=block)
    return y
