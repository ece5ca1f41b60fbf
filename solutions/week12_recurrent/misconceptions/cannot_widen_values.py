"""Gives the output the width of the queries.

Exercise: linear_attention
Believes: d_v is always d_k.
Shows: An error or missing features if d_v differs from d_k.
Hint: What is the size of the last axis of v in the docstring?
Rejected by: test_sizes_of_heads
Costs: 25 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)[..., :q.shape[-1]]
