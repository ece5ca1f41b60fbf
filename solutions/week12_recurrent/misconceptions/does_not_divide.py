"""Does not divide by the sum of the weights.

Exercise: linear_attention_step
Believes: The state is already a mean.
Shows: Outputs grow with the number of tokens.
Hint: If all values are equal, what should the output be?
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
    output = read
    return (output.to(v.dtype), (products, keys))
