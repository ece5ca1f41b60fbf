"""Returns float32 for half-precision inputs.

Exercise: linear_attention
Believes: The caller can convert the result.
Shows: The dtype differs from that of v.
Hint: What dtype does the docstring require?
Rejected by: test_every_dtype
Costs: 20 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True))
