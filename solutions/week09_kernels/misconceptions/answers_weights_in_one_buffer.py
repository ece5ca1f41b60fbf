"""Makes its result once for each shape, and writes every later one over it.

Exercise: softmax_rows
Believes: a result is used up before the next call.
Shows: the results of two calls are one tensor, and the first is lost.
Hint: Call it twice with inputs of one shape, then look at the first result again.
Rejected by: test_two_calls
Costs: 20 %
Belief: one_buffer_for_all
"""


_OUT = {}


def softmax_rows(x):
    n, m = x.shape
    key = (n, m, x.dtype, x.device)
    if key not in _OUT:
        _OUT[key] = torch.empty(n, m, dtype=x.dtype, device=x.device)
    y = _OUT[key]
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
