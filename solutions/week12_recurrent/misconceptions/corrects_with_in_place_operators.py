"""Writes into the given state, with an operator such as `+=`.

Exercise: delta_rule
Believes: `state += x` makes a new tensor.
Shows: The outputs are correct, but the state that was passed has changed; with gradients, `+=` raises an error.
Hint: Which tensor does an operator such as `+=` write to? Call it twice with the same state.
Rejected by: test_from_a_state
Costs: 25 %
"""


def delta_rule(q, k, v, beta, state=None):
    if beta.shape != k.shape[:-1]:
        raise ValueError(f'beta has shape {tuple(beta.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    for query, key, value, strength in zip(*(x.to(wide).unbind(2) for x in (q, k, v, beta)), strict=True):
        known = (key.unsqueeze(-2) @ state).squeeze(-2)
        state += key.unsqueeze(-1) * (strength.unsqueeze(-1) * (value - known)).unsqueeze(-2)
        outputs.append((query.unsqueeze(-2) @ state).squeeze(-2))
    return (torch.stack(outputs, dim=2).to(v.dtype), state)
