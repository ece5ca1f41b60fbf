"""Attends to later keys.

Exercise: linear_attention
Believes: Linear attention needs no mask.
Shows: Only the last position is correct.
Hint: Change the last key. Which outputs may change?
Rejected by: test_nothing_looks_ahead
Costs: 40 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
