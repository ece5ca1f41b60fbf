"""Makes the result without naming a device, so that it is on the CPU.

Exercise: softmax_rows
Believes: Tensors are made where they are needed.
Shows: On a GPU the kernel is given a pointer to the CPU's memory.
Hint: On which device does `torch.empty(n, m)` create its tensor?
Rejected by: test_device
Costs: 15 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
