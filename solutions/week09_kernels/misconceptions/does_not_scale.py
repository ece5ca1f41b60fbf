"""Computes scores that are not divided by √d.

Exercise: flash_forward
Believes: The softmax takes care of the scale.
Shows: The weights are too sharp.
Hint: Compare the formula in the docstring.
Rejected by: test_values
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
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, 1.0,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
