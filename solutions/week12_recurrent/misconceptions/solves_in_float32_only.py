"""Computes in float32, whatever the inputs are.

Exercise: delta_rule_chunked
Believes: float32 is always enough.
Shows: float64 inputs lose half of their digits.
Hint: What is the dtype of the state for float64 inputs?
Rejected by: test_double_precision
Costs: 20 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.float32
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
