"""Raises the query's own decay to the power of the distance.

Exercise: gated_linear_attention
Believes: The decay is γ^(i - j).
Shows: Correct only if all decays of a head are equal.
Hint: If only token 3 forgets, which keys lose weight for query 5?
Rejected by: test_decay_begins_after_the_key
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (log_decay.to(wide).unsqueeze(-1) * (torch.arange(k.shape[2], device=k.device)[:, None] - torch.arange(k.shape[2], device=k.device))).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
