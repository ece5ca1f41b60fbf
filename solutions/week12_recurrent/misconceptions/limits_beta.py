"""Limits beta to the range from 0 to 1.

Exercise: delta_rule
Believes: A strength is a share.
Shows: Values above 1 are treated as 1.
Hint: Does the docstring limit beta?
Rejected by: test_writing_strength
Costs: 20 %
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
        state = state + beta[:, :, t, None, None].clamp(0, 1) * key.mT @ error
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
