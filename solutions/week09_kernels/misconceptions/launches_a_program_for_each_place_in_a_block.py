"""Launches block_m programs for any number of queries.

Exercise: flash_forward
Believes: The grid is as large as a block of queries.
Shows: Right up to 256 queries with a block of 16; the results of later queries are never written.
Hint: How many blocks do 300 queries make, with block_m = 16? The grid counts blocks, a block counts
    queries.
Rejected by: test_many_queries
Costs: 30 %
"""


def flash_forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = False,
    block_m: int = 16,
    block_n: int = 16,
) -> tuple[torch.Tensor, torch.Tensor]:
    (n, d), m = q.shape, k.shape[0]
    output = torch.empty(n, d, dtype=q.dtype, device=q.device)
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[(block_m,)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
