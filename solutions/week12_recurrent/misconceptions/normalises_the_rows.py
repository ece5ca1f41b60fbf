"""Divides by the sum of the weights.

Exercise: gated_linear_attention
Believes: Attention weights sum to 1.
Shows: Outputs are means of the values.
Hint: Is there a division in the formula of the docstring?
Rejected by: test_nothing_is_normalised
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return ((scores * exponent.exp() @ v.to(wide)) / (scores * exponent.exp()).sum(-1, keepdim=True)).to(v.dtype)
