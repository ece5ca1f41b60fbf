"""Divides queries by √d before the feature map.

Exercise: linear_attention
Believes: Attention always has the factor 1/√d.
Shows: Weights are more even than required, except for d = 1.
Hint: Does the factor cancel in the division by the sum of the weights? And what if it is applied before φ?
Rejected by: test_no_scale
Costs: 30 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide) / q.shape[-1] ** 0.5) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
