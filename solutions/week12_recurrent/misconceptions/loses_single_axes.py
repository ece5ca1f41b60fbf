"""Removes axes of size 1 from the output.

Exercise: delta_rule
Believes: Axes of size 1 have no meaning.
Shows: A batch of one sequence loses its first axis.
Hint: Which shape should a batch of 1 give?
Rejected by: test_singleton_axes
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
        state = state + beta[:, :, t, None, None] * key.mT @ error
        outputs.append(query @ state)
    return (torch.cat(outputs, dim=2).squeeze().to(v.dtype), state)
