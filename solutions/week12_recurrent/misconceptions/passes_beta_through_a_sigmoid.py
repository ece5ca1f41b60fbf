"""Applies a sigmoid to beta.

Exercise: delta_rule
Believes: beta is a logit.
Shows: beta = 0 writes half of the correction.
Hint: For beta = 0, what should change in the state?
Rejected by: test_writing_strength
Costs: 35 %
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
        state = state + beta[:, :, t, None, None].sigmoid() * key.mT @ error
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
