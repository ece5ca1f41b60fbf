"""Divides by the sum of the previous tokens only.

Exercise: linear_attention_step
Believes: The denominator belongs to the previous tokens.
Shows: If all values are equal, the outputs differ from them.
Hint: Are numerator and denominator sums over the same tokens?
Rejected by: test_equal_values
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * (key if state is None else state[1])).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
