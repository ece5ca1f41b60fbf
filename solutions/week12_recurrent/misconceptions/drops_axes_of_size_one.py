"""Removes axes of size 1.

Exercise: linear_attention
Believes: Axes of size 1 have no meaning.
Shows: A batch of one sequence loses its first axis.
Hint: Which shape should a batch of 1 give?
Rejected by: test_singleton_axes
Costs: 20 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype).squeeze()
