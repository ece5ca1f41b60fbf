"""Accepts any log_decay that broadcasts.

Exercise: gated_linear_attention
Believes: Broadcasting is convenient.
Shows: A log_decay of shape (H, T) or (B, H, 1) raises no error.
Hint: What should happen with a log_decay of shape (H, T)?
Rejected by: test_refuses_other_shapes
Costs: 20 %
"""

def gated_linear_attention(q, k, v, log_decay):
    log_decay = log_decay.reshape(log_decay.shape[:3]).expand(k.shape[:-1])
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
