"""Applies the feature map.

Exercise: gated_linear_attention
Believes: All linear attention uses the feature map.
Shows: Weights are positive where they should be negative.
Hint: Which functions of this week apply φ? See the top of the file.
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
    scores = feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
