"""Makes the result in float32.

Exercise: softmax_rows
Believes: What is computed in float32 is float32.
Shows: Wrong dtype for float16.
Hint: `tl.store` converts to the type of the tensor that it writes to. Which one should that be?
Rejected by: test_dtype
Costs: 20 %
"""


def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, m, device=x.device)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
