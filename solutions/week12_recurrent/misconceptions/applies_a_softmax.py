"""Applies a softmax to the scores.

Exercise: linear_attention
Believes: Attention always has a softmax.
Shows: The feature map changes nothing.
Hint: Which formula does the docstring give for a weight?
Rejected by: test_values
Costs: 90 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (q.to(wide) @ k.to(wide).mT).exp().tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
