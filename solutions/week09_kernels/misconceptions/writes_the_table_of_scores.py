"""Has one kernel write all scores to memory, and another one read them.

Exercise: flash_forward
Believes: Attention is two products with a softmax between.
Shows: The right output, and a table of n × m scores.
Hint: How large is the table for 100000 tokens? Each tile of scores can be used where it is made.
Rejected by: test_tiles
Costs: 50 %
"""

_flash = flash_forward


@triton.jit
def _scores_kernel(
    q, k, table, n, m, q_row, q_column, k_row, k_column, d: tl.constexpr, block: tl.constexpr
):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    f = tl.arange(0, d)
    left = tl.load(q + rows[:, None] * q_row + f[None, :] * q_column, rows[:, None] < n, 0.0)
    right = tl.load(k + columns[None, :] * k_row + f[:, None] * k_column, columns[None, :] < m, 0.0)
    inside = (rows[:, None] < n) & (columns[None, :] < m)
    scores = tl.dot(left, right, input_precision="ieee")
    tl.store(table + rows[:, None] * m + columns[None, :], scores, inside)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    (n, d), m = q.shape, k.shape[0]
    table = torch.empty(n, m, device=q.device)
    grid = (triton.cdiv(n, 16), triton.cdiv(m, 16))
    _scores_kernel[grid](q, k, table, n, m, *q.stride(), *k.stride(), d=d, block=16)
    return _flash(q, k, v, causal, block_m, block_n)
