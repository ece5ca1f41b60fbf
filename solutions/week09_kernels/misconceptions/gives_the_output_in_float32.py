"""Makes the output in float32.

Exercise: flash_forward
Believes: What is computed in float32 is float32.
Shows: Wrong dtype for float16.
Hint: `tl.store` converts to the type of the tensor that it writes to. Which one should that be?
Rejected by: test_float16
Costs: 20 %
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
    output = torch.empty(n, d, device=q.device)
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
