"""Uses the decays j to i - 1.

Exercise: gated_linear_attention
Believes: A decay takes effect after its token.
Shows: Each previous key gets the decay of its own token instead of that of the query.
Hint: Two tokens: which of the two decays multiplies k_0 v_0ᵀ?
Rejected by: test_decay_begins_after_the_key
Costs: 35 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = ((total - log_decay.to(wide)).unsqueeze(-1) - (total - log_decay.to(wide)).unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
