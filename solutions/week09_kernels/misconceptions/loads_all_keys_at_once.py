"""Makes the tile of keys as long as there are keys.

Exercise: flash_forward
Believes: Then no loop is needed.
Shows: The right output, as long as the keys fit.
Hint: How many elements does a load cover with 100000 keys?
Rejected by: test_tiles
Costs: 25 %
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
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=max(16, triton.next_power_of_2(m)),
    )  # fmt: skip
    return output, logsumexp
