"""Makes the result with `empty_like`, and writes as if its rows were m elements apart.

Exercise: softmax_rows
Believes: A new tensor is contiguous.
Shows: Right for contiguous scores; for a transposed matrix, weights are in the wrong places.
Hint: What is torch.empty_like(x).stride() of x = torch.zeros(4, 10).T?
Rejected by: test_strides
Costs: 20 %
"""


def softmax_rows(x):
    n, m = x.shape
    y = torch.empty_like(x)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), m, 1, block=block)
    return y
