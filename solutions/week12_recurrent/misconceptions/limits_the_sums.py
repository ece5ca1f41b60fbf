"""Limits how small the sums of the logarithms may be.

Exercise: gated_linear_attention
Believes: Smaller sums cannot be represented.
Shows: After strong decay, later tokens do not decay any more.
Hint: Which difference do two tokens have whose sums are both below the limit?
Rejected by: test_strong_decay
Costs: 30 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1).clamp(min=-80)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
