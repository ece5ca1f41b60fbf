"""Applies a softmax to the products of features.

Exercise: linear_attention
Believes: Weights are the softmax of the scores.
Shows: Small weights are too large, large ones too small.
Hint: The weight is φ(q) · φ(k) itself. Where is an exponential in your code?
Rejected by: test_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights.masked_fill(weights == 0, -torch.inf).softmax(-1) @ v.to(wide)).to(v.dtype)
