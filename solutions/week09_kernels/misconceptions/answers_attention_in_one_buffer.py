"""Makes its result once for each shape, and writes every later one over it.

Exercise: flash_forward
Believes: a result is used up before the next call.
Shows: the results of two calls are one tensor, and the first is lost.
Hint: Call it twice with inputs of one shape, then look at the first result again.
Rejected by: test_two_calls
Costs: 20 %
Belief: one_buffer_for_all
"""


_OUT = {}


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    (n, d), m = q.shape, k.shape[0]
    key = (n, d, q.dtype, q.device)
    if key not in _OUT:
        logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
        _OUT[key] = torch.empty(n, d, dtype=q.dtype, device=q.device), logsumexp
    output, logsumexp = _OUT[key]
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
