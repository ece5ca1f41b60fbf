"""Sees the last 1000 keys only.

Exercise: linear_attention
Believes: Older keys do not matter.
Shows: Correct for short sequences only.
Hint: Is there a constant in your code?
Rejected by: test_many_keys
Costs: 25 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril().triu(-999)
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
