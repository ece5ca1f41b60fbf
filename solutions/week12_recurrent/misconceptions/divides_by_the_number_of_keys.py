"""Divides by the number of visible keys.

Exercise: linear_attention
Believes: The mean divides by how many there are.
Shows: Weights do not sum to 1.
Hint: Is it a mean in which all keys count equally?
Rejected by: test_equal_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / torch.arange(1, q.shape[2] + 1, device=q.device, dtype=wide)[:, None]).to(v.dtype)
