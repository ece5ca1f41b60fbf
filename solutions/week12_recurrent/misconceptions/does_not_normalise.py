"""Does not divide by the sum of the weights.

Exercise: linear_attention
Believes: Without a softmax, nothing is normalised.
Shows: Outputs grow with the number of keys.
Hint: If all values are equal, what should the output be?
Rejected by: test_equal_values
Costs: 35 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT).tril()
    return (weights @ v.to(wide)).to(v.dtype)
