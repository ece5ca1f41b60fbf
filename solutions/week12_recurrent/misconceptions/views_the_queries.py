"""Uses view on its inputs.

Exercise: linear_attention
Believes: Inputs are contiguous.
Shows: Transposed inputs raise an error.
Hint: Call it with q.transpose(0, 2). What does view need?
Rejected by: test_views
Costs: 20 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    q = q.view(-1).view(q.shape)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
