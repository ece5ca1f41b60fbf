"""Applies the feature map to the scores.

Exercise: linear_attention
Believes: φ makes a score positive.
Shows: Weights differ; the sum no longer factors into a state.
Hint: Is φ(q · k) the same as φ(q) · φ(k)?
Rejected by: test_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = feature_map(q.to(wide) @ k.to(wide).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
