"""Divides by the weights of all keys, hidden ones included.

Exercise: linear_attention
Believes: The denominator is the sum over the whole row.
Shows: Outputs are too small, except the last one.
Hint: If all values are equal, what should the output be?
Rejected by: test_equal_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).sum(dim=-1, keepdim=True)).to(v.dtype)
