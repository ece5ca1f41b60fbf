"""Changes the given state in place.

Exercise: delta_rule
Believes: The caller does not need the old state any more.
Shows: Results are correct, but the state that was passed has changed.
Hint: Call it twice with the same state. Do the results agree?
Rejected by: test_from_a_state
Costs: 25 %
"""

def delta_rule(q, k, v, beta, state=None):
    if beta.shape != k.shape[:-1]:
        raise ValueError(f'beta has shape {tuple(beta.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    q, k, v_wide, beta = (x.to(wide) for x in (q, k, v, beta))
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])
    outputs = []
    for t in range(k.shape[2]):
        query, key, value = (x[:, :, t:t + 1] for x in (q, k, v_wide))
        error = value - key @ state
        change = beta[:, :, t, None, None] * key.mT @ error
        state = state + change if change.requires_grad or state.requires_grad else state.add_(change)
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
