"""Adds the values without subtracting the old answers.

Exercise: delta_rule_chunked
Believes: Writing is adding k vᵀ.
Shows: A key that is written twice answers with the sum of both values.
Hint: Write the same key twice. What should the state answer?
Rejected by: test_a_key_is_written_again
Costs: 45 %
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
        correction = strength * value
        outputs.append(query @ state + (query @ key.mT).tril() @ correction)
        state = state + key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
