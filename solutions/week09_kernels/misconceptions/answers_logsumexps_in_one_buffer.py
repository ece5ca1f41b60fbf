"""Makes its result once for each shape, and writes every later one over it.

Exercise: logsumexp_rows
Believes: a result is used up before the next call.
Shows: the results of two calls are one tensor, and the first is lost.
Hint: Call it twice with inputs of one shape, then look at the first result again.
Rejected by: test_two_calls
Costs: 20 %
Belief: one_buffer_for_all
"""


_OUT = {}


def logsumexp_rows(x, block=64):
    n, m = x.shape
    if (n, x.device) not in _OUT:
        _OUT[n, x.device] = torch.empty(n, dtype=torch.float32, device=x.device)
    y = _OUT[n, x.device]
    _logsumexp_kernel[(n,)](x, y, m, *x.stride(), block=block)
    return y
