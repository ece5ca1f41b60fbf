"""Keeps the state in the dtype of the values.

Exercise: linear_attention_step
Believes: The state has the dtype of the inputs.
Shows: In float16, a long sum stops growing.
Hint: What is 4096 + 1 in float16?
Rejected by: test_long_sums_in_halves
Costs: 25 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products.to(v.dtype), keys.to(v.dtype)))
