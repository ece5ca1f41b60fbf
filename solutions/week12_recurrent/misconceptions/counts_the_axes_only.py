"""Checks only the number of axes of log_decay.

Exercise: gated_linear_attention
Believes: Three axes are the right shape.
Shows: A log_decay of shape (B, H, 1) raises no ValueError.
Hint: Which sizes must the three axes have?
Rejected by: test_refuses_other_shapes
Costs: 15 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.dim() != 3:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
