"""Computes all corrections from the first state.

Exercise: delta_rule
Believes: The old answers can be read in one product.
Shows: The second of two equal keys is written as if the first had not been.
Hint: Which state has to answer key 3: the first one, or the one after token 2?
Rejected by: test_outputs
Costs: 45 %
"""

def delta_rule(q, k, v, beta, state=None):
    if beta.shape != k.shape[:-1]:
        raise ValueError(f'beta has shape {tuple(beta.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    q, k, v_wide, beta = (x.to(wide) for x in (q, k, v, beta))
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])
    first = state
    outputs = []
    for t in range(k.shape[2]):
        query, key, value = (x[:, :, t:t + 1] for x in (q, k, v_wide))
        error = value - key @ first
        state = state + beta[:, :, t, None, None] * key.mT @ error
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
