"""Writes into the given state, with an operator such as `+=`.

Exercise: delta_rule_chunked
Believes: `state += x` makes a new tensor.
Shows: The outputs are correct, but the state that was passed has changed; with gradients, `+=` raises an error.
Hint: Which tensor does an operator such as `+=` write to? Call it twice with the same state.
Rejected by: test_from_a_state
Costs: 25 %
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
        correction = torch.linalg.solve_triangular(known, strength * (value - key @ state), upper=False, unitriangular=True)
        outputs.append(query @ state + (query @ key.mT).tril() @ correction)
        state += key.mT @ correction
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
