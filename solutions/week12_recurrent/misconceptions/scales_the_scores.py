"""Divides scores by √d.

Exercise: gated_linear_attention
Believes: Attention always has the factor 1/√d.
Shows: Outputs are too small by √d.
Hint: Does the docstring name a scale?
Rejected by: test_nothing_is_normalised
Costs: 30 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT / k.shape[-1] ** 0.5
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
