"""Stores a state for each token.

Exercise: delta_rule_chunked
Believes: A running sum of k uᵀ gives all states.
Shows: Memory is T · d_k · d_v.
Hint: How many elements has your largest tensor for d_k = d_v = 32 and T = 512?
Rejected by: test_memory
Costs: 45 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    places = 0 * (k.unsqueeze(-1) * v.unsqueeze(-2)).sum().to(wide)
    pieces = (x.to(wide).split(chunk, dim=2) for x in (q, k, v, beta))
    for query, key, value, strength in zip(*pieces, strict=True):
        strength = strength.unsqueeze(-1)
        known = (strength * key @ key.mT).tril(-1)
        correction = torch.linalg.solve_triangular(known, strength * (value - key @ state), upper=False, unitriangular=True)
        outputs.append(places + query @ state + (query @ key.mT).tril() @ correction)
        state = state + key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
