"""Hides each query's own key.

Exercise: linear_attention
Believes: A token does not attend to itself.
Shows: The first output is NaN: its weights sum to 0.
Hint: Which keys does the first query see?
Rejected by: test_first_token
Costs: 40 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril(-1)
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
