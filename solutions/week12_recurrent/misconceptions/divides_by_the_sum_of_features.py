"""Divides by the sum of all features of the keys.

Exercise: linear_attention_step
Believes: The second sum is the denominator.
Shows: The denominator does not depend on the query.
Hint: What is the weight of key j for this query?
Rejected by: test_next_token
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / keys.sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
