"""Includes the diagonal in the system.

Exercise: delta_rule_chunked
Believes: u_t depends on the keys up to t.
Shows: Corrections are too small.
Hint: Which u_j does the definition of u_t contain: j < t, or j <= t?
Rejected by: test_one_chunk
Costs: 35 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    pieces = (x.to(wide).split(chunk, dim=2) for x in (q, k, v, beta))
    for query, key, value, strength in zip(*pieces, strict=True):
        strength = strength.unsqueeze(-1)
        known = torch.eye(key.shape[2], dtype=wide, device=key.device)
        correction = torch.linalg.solve_triangular(known + (strength * key @ key.mT).tril(), strength * (value - key @ state), upper=False)
        outputs.append(query @ state + (query @ key.mT).tril() @ correction)
        state = state + key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
