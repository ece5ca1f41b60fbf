"""Hides no keys if `causal` is set.

Exercise: flash_forward
Believes: The tiles are in order, so nothing has to be hidden.
Shows: Every query sees all keys.
Hint: Which keys does query 0 see if `causal` is True?
Rejected by: test_causal
Costs: 30 %
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
    highest = tl.full((block_m,), -float("inf"), tl.float32)
    total = tl.zeros((block_m,), tl.float32)
    mixed = tl.zeros((block_m, d), tl.float32)
    for start in range(0, m, block_n):
        columns = start + tl.arange(0, block_n)
        there = columns[:, None] < m
        keys = tl.load(k + columns[:, None] * k_row + features[None, :] * k_column, there, 0.0)
        values = tl.load(v + columns[:, None] * v_row + features[None, :] * v_column, there, 0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = columns[None, :] < m
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
