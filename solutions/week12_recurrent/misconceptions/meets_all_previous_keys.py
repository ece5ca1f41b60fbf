"""Solves with all previous keys again in each chunk.

Exercise: delta_rule_chunked
Believes: A chunk needs all keys so far.
Shows: Results are correct, but the work grows faster than T.
Hint: What does the state save you from computing again?
Rejected by: test_work
Costs: 40 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    start = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide) if state is None else state
    a, b, c, s = (x.to(wide) for x in (q, k, v, beta.unsqueeze(-1)))
    outputs, found = [], []
    for i in range(0, k.shape[2], chunk):
        j = min(i + chunk, k.shape[2])
        right = c[:, :, i:j] - b[:, :, i:j] @ start
        if found:
            before = torch.cat(found, dim=2)
            right = right - (b[:, :, i:j] @ b[:, :, :i].mT) @ before
        known = (s[:, :, i:j] * (b[:, :, i:j] @ b[:, :, i:j].mT)).tril(-1)
        found.append(torch.linalg.solve_triangular(known, s[:, :, i:j] * right, upper=False, unitriangular=True))
        everything = torch.cat(found, dim=2)
        scores = (a[:, :, i:j] @ b[:, :, :j].mT).tril(i)
        outputs.append(a[:, :, i:j] @ start + scores @ everything)
    return torch.cat(outputs, dim=2).to(v.dtype), start + b.mT @ torch.cat(found, dim=2)
