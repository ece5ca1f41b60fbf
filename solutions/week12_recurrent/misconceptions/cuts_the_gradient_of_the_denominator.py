"""Lets no gradient flow through the sum of the weights.

Exercise: linear_attention
Believes: The denominator is only a scale.
Shows: Values are correct, gradients of queries and keys are not.
Hint: Does the sum of the weights depend on the keys?
Rejected by: test_gradients
Costs: 25 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True).detach()).to(v.dtype)
