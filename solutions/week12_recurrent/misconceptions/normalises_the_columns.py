"""Normalises over the queries of each key.

Exercise: linear_attention
Believes: Weights sum to 1 along the last axis but one.
Shows: The weights of a query do not sum to 1.
Hint: Whose weights form a probability distribution: those of a query or of a key?
Rejected by: test_equal_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights / weights.sum(dim=-2, keepdim=True) @ v.to(wide)).to(v.dtype)
