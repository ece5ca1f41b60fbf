"""Computes weights and sums in the dtype of the inputs.

Exercise: linear_attention
Believes: The dtype of the inputs is precise enough.
Shows: In float16, large weights overflow.
Hint: What is the largest number in float16? What is the sum of 40 weights of 3000 each?
Rejected by: test_sums_in_halves
Costs: 20 %
"""

def linear_attention(q, k, v):
    wide = v.dtype
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
