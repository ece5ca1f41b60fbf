"""Begins with a maximum of 0 for each query.

Exercise: flash_forward
Believes: Running values begin at 0.
Shows: For scores far below zero all exponentials become 0, and with them the output.
Hint: Which number is below all scores?
Rejected by: test_very_negative_scores
Costs: 20 %
"""


@triton.jit
def _flash_kernel(
    q, k, v, out, lse, n, m, scale,
    q_row, q_column, k_row, k_column, v_row, v_column, out_row, out_column,
    d: tl.constexpr, causal: tl.constexpr, block_m: tl.constexpr, block_n: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * block_m + tl.arange(0, block_m)
    features = tl.arange(0, d)
    here = rows[:, None] < n
    queries = tl.load(q + rows[:, None] * q_row + features[None, :] * q_column, here, 0.0)
    highest = tl.zeros((block_m,), tl.float32)
    total = tl.zeros((block_m,), tl.float32)
    mixed = tl.zeros((block_m, d), tl.float32)
    for start in range(0, m, block_n):
        columns = start + tl.arange(0, block_n)
        there = columns[:, None] < m
        keys = tl.load(k + columns[:, None] * k_row + features[None, :] * k_column, there, 0.0)
        values = tl.load(v + columns[:, None] * v_row + features[None, :] * v_column, there, 0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = columns[None, :] < m
        if causal:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, axis=1))
        shift = tl.where(new == -float("inf"), 0.0, new)  # a query that saw no key so far
        weights = tl.exp(scores - shift[:, None])
        shrink = tl.exp(highest - shift)
        total = total * shrink + tl.sum(weights, axis=1)
        mixed = mixed * shrink[:, None]
        mixed = tl.dot(weights, values.to(tl.float32), mixed, input_precision="ieee")
        highest = new
    seen_any = total > 0
    divisor = tl.where(seen_any, total, 1.0)
    place = out + rows[:, None] * out_row + features[None, :] * out_column
    tl.store(place, mixed / divisor[:, None], mask=here)
    tl.store(lse + rows, tl.where(seen_any, highest + tl.log(divisor), -float("inf")), rows < n)
