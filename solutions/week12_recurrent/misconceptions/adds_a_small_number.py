"""Keeps each decay away from 0 by a small number.

Exercise: gated_linear_attention
Believes: A small number prevents log(0).
Shows: A strong decay becomes weaker than required.
Hint: What does your code make of a logarithm of -40?
Rejected by: test_strong_decay
Costs: 25 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = (log_decay.to(wide).exp() + 1e-6).log().cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
