"""Keeps the upper triangle.

Exercise: linear_attention
Believes: Rows are keys and columns are queries.
Shows: Each query sees itself and later keys only.
Hint: In q @ k.mT, does a row belong to a query or to a key?
Rejected by: test_nothing_looks_ahead
Costs: 40 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).triu()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
