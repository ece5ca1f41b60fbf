"""Uses the decay of the query only.

Exercise: gated_linear_attention
Believes: D_ij is exp(g_i).
Shows: Keys that are far away decay as little as near ones.
Hint: How many decays has a key gone through after three more tokens?
Rejected by: test_values
Costs: 40 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (log_decay.to(wide).unsqueeze(-1) * (1 - torch.eye(k.shape[2], device=k.device, dtype=wide))).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
