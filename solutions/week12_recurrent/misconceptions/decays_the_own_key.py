"""Applies a token's decay to its own key.

Exercise: gated_linear_attention
Believes: D_ij is the product of the decays j to i.
Shows: Even the first output is too small.
Hint: In S_t = exp(g_t) S_{t-1} + k_t v_tᵀ, by what is k_t v_tᵀ multiplied?
Rejected by: test_decay_begins_after_the_key
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - (total - log_decay.to(wide)).unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
