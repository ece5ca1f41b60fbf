"""Multiplies each score by the decay since the beginning.

Exercise: gated_linear_attention
Believes: D_ij is the product of the decays up to i.
Shows: Later outputs are too small, whichever key is read.
Hint: Which decays has the newest key gone through?
Rejected by: test_decay_begins_after_the_key
Costs: 40 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    scores_shape = (*total.shape, total.shape[-1])
    exponent = total.unsqueeze(-1).expand(scores_shape).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
