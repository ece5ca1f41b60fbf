"""Sums logarithms and scores in the dtype of the inputs.

Exercise: gated_linear_attention
Believes: The dtype of the inputs is precise enough.
Shows: In float16, sums of many logarithms are rounded, and large scores overflow.
Hint: What is -150 - 0.1 in float16?
Rejected by: test_sums_in_halves
Costs: 20 %
"""

def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != k.shape[:-1]:
        raise ValueError(f'log_decay has shape {tuple(log_decay.shape)}, not {tuple(k.shape[:-1])}')
    wide = v.dtype
    total = log_decay.to(wide).cumsum(dim=-1)
    later = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool, device=k.device).triu(1)
    exponent = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf)
    scores = q.to(wide) @ k.to(wide).mT
    return (scores * exponent.exp() @ v.to(wide)).to(v.dtype)
