"""Applies the feature map to the keys only.

Exercise: linear_attention
Believes: Only keys need features.
Shows: Some weights are negative.
Hint: In φ(q) · φ(k), how many feature maps are there?
Rejected by: test_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (q.to(wide) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
