"""Looks back 1000 keys only.

Exercise: gated_linear_attention
Believes: Older keys have decayed.
Shows: Correct for short sequences only.
Hint: With a decay of 1, how much is left of a key after 2000 tokens?
Rejected by: test_many_keys
Costs: 25 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp().triu(-999) @ v.to(wide)).to(v.dtype)
