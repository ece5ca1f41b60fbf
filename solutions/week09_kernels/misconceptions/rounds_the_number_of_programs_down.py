"""Rounds the number of blocks of queries down.

Exercise: flash_forward
Believes: n // block_m is the number of blocks.
Shows: The last queries get no result, where n is not a multiple of block_m.
Hint: How many blocks do 19 queries make, with block_m = 16? `triton.cdiv` rounds up.
Rejected by: test_sizes_that_do_not_divide
Costs: 30 %
"""


def flash_forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool=False, block_m: int=16, block_n: int=16) -> tuple[torch.Tensor, torch.Tensor]:
    (n, d), m = (q.shape, k.shape[0])
    output = torch.empty(n, d, dtype=q.dtype, device=q.device)
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[n // block_m,](q, k, v, output, logsumexp, n, m, d ** (-0.5), *q.stride(), *k.stride(), *v.stride(), *output.stride(), d=d, causal=causal, block_m=block_m, block_n=block_n)
    return (output, logsumexp)
