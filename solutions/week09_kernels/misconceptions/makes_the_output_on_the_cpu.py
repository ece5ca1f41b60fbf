"""Makes the output without naming a device, so that it is on the CPU.

Exercise: flash_forward
Believes: Tensors are made where they are needed.
Shows: On a GPU the kernel is given a pointer to the CPU's memory.
Hint: On which device does `torch.empty(n, d)` create its tensor?
Rejected by: test_device
Costs: 15 %
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
    output = torch.empty(n, d, dtype=q.dtype)
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
