"""Uses the mean of beta over the sequence.

Exercise: delta_rule
Believes: A head has one strength.
Shows: Tokens with a small beta are written too strongly, and later tokens change earlier outputs.
Hint: Is beta[..., 3] used for token 3 only?
Rejected by: test_nothing_looks_ahead
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
        state = state + beta.mean(-1)[:, :, None, None] * key.mT @ error
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
