"""Makes its result once for each shape, and writes every later one over it.

Exercise: matmul
Believes: a result is used up before the next call.
Shows: the results of two calls are one tensor, and the first is lost.
Hint: Call it twice with inputs of one shape, then look at the first result again.
Rejected by: test_two_calls
Costs: 20 %
Belief: one_buffer_for_all
"""


_OUT = {}


def matmul(a, b, block=16):
    (M, K), N = a.shape, b.shape[1]
    if (M, N, a.device) not in _OUT:
        _OUT[M, N, a.device] = torch.empty(M, N, dtype=torch.float32, device=a.device)
    c = _OUT[M, N, a.device]
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
