"""Accepts any beta that broadcasts.

Exercise: delta_rule
Believes: Broadcasting is convenient.
Shows: A beta of shape (H, T) or (B, H, 1) raises no error.
Hint: What should happen with a beta of shape (H, T)?
Rejected by: test_refuses_other_shapes
Costs: 20 %
"""

def delta_rule(q, k, v, beta, state=None):
    beta = beta.reshape(beta.shape[:3]).expand(k.shape[:-1])
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
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
