"""Masks after exponentiating, by multiplication.

Exercise: gated_linear_attention
Believes: It does not matter when later keys are hidden.
Shows: With strong decay, later keys give infinity times 0.
Hint: What is the exponent above the diagonal? How large can its exp become?
Rejected by: test_strong_decay
Costs: 30 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * ((total.unsqueeze(-1) - total.unsqueeze(-2)).exp() * ~later) @ v.to(wide)).to(v.dtype)
