"""Divides the features of each key by their length.

Exercise: linear_attention
Believes: Only the direction of a key matters.
Shows: Long keys get too little weight.
Hint: Double one key. Does its weight change in your code?
Rejected by: test_keys_of_different_lengths
Costs: 30 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ F.normalize(feature_map(k.to(wide)), dim=-1).mT).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
