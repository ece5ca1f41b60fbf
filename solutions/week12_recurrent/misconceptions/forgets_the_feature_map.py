"""Uses queries and keys without the feature map.

Exercise: linear_attention
Believes: Scores may be used as weights.
Shows: Weights may be negative, and their sum close to 0.
Hint: Which sign has q · k? Which sign must a weight have?
Rejected by: test_values
Costs: 40 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (q.to(wide) @ k.to(wide).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
