"""Writes the output of a causal call over a copy of the values, beginning with the last queries.

Exercise: flash_forward
Believes: Later queries run first, so their values are not needed any more.
Shows: Right in the interpreter. On a GPU a program overwrites values that another one has yet to
    load.
Hint: The programs run at the same time. Who else loads the values that this program overwrites? See
    section 7 of the lesson.
Rejected by: test_any_order
Costs: 25 %
"""


@triton.jit
def _flash_kernel(
    q, k, v, out, lse, n, m, scale,
    q_row, q_column, k_row, k_column, v_row, v_column, out_row, out_column,
    d: tl.constexpr, causal: tl.constexpr, block_m: tl.constexpr, block_n: tl.constexpr,
):  # fmt: skip
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * block_m
    rows = first + tl.arange(0, block_m)
    features = tl.arange(0, d)
    here = rows[:, None] < n
    queries = tl.load(q + rows[:, None] * q_row + features[None, :] * q_column, here, 0.0)
    highest = tl.full((block_m,), -float("inf"), tl.float32)
    total = tl.zeros((block_m,), tl.float32)
    mixed = tl.zeros((block_m, d), tl.float32)
    end = m
    if causal:
        end = tl.minimum(m, first + block_m)
    for start in range(0, end, block_n):
        columns = start + tl.arange(0, block_n)
        there = columns[:, None] < end
        keys = tl.load(k + columns[:, None] * k_row + features[None, :] * k_column, there, 0.0)
        values = tl.load(v + columns[:, None] * v_row + features[None, :] * v_column, there, 0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = columns[None, :] < end
        if causal:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(highest - new)
        total = total * shrink + tl.sum(weights, axis=1)
        mixed = mixed * shrink[:, None]
        mixed = tl.dot(weights, values.to(tl.float32), mixed, input_precision="ieee")
        highest = new
    place = out + rows[:, None] * out_row + features[None, :] * out_column
    tl.store(place, mixed / total[:, None], mask=here)
    tl.store(lse + rows, highest + tl.log(total), rows < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    (n, d), m = q.shape, k.shape[0]
    output = torch.empty(max(n, m), d, dtype=q.dtype, device=q.device)
    if causal:
        output[:m] = v
        v = output
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output[:n], logsumexp
