"""Multiplies by the matrix of the triangular system.

Exercise: delta_rule_chunked
Believes: The corrections are (I + A) times the right-hand side.
Shows: The sign of the first correction is wrong.
Hint: Write the equation for u_1 with u_0. Is u_0 added or subtracted?
Rejected by: test_one_chunk
Costs: 40 %
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
        known = (strength * key @ key.mT).tril(-1)
        correction = strength * (value - key @ state)
        correction = correction + known @ correction
        outputs.append(query @ state + (query @ key.mT).tril() @ correction)
        state = state + key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
