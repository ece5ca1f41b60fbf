"""Leaves later keys visible.

Exercise: gated_linear_attention
Believes: The decay hides what is far away.
Shows: Later keys get weights above 1.
Hint: Change the last value. Which outputs may change?
Rejected by: test_nothing_looks_ahead
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).clamp(max=0)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
