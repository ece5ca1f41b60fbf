"""Treats a chunk size below 1 as 1.

Exercise: delta_rule_chunked
Believes: A wrong size can be corrected.
Shows: chunk = 0 raises no error.
Hint: What should happen for chunk = 0?
Rejected by: test_refuses_small_chunks
Costs: 15 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    chunk = max(chunk, 1)
    wide = torch.promote_types(v.dtype, torch.float32)
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    pieces = (x.to(wide).split(chunk, dim=2) for x in (q, k, v, beta))
    for query, key, value, strength in zip(*pieces, strict=True):
        strength = strength.unsqueeze(-1)
        known = (strength * key @ key.mT).tril(-1)
        correction = torch.linalg.solve_triangular(known, strength * (value - key @ state), upper=False, unitriangular=True)
        outputs.append(query @ state + (query @ key.mT).tril() @ correction)
        state = state + key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
