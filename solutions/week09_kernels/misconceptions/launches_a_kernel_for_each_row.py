"""Launches a kernel for each row from a loop in Python.

Exercise: softmax_rows
Believes: One launch computes one row.
Shows: The right weights; but a launch costs more than a row.
Hint: The grid says how many programs there are. Which loop can it replace?
Rejected by: test_one_program_for_each_row
Costs: 25 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    for i in range(n):
        one, into = x[i : i + 1], y[i : i + 1]
        _softmax_kernel[(1,)](one, into, m, *one.stride(), *into.stride(), block=block)
    return y
