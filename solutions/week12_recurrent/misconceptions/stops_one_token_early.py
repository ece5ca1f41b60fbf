"""Leaves the query's own decay out.

Exercise: gated_linear_attention
Believes: D_ij is the product of the decays j + 1 to i - 1.
Shows: Previous keys decay too little by one factor.
Hint: In the recurrence, is the state multiplied by exp(g_t) before or after query t reads it?
Rejected by: test_values
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (((total - log_decay.to(wide)).unsqueeze(-1) - total.unsqueeze(-2)).clamp(max=0)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
