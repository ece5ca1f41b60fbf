"""Starts the sum of keys with ones.

Exercise: linear_attention_step
Believes: The denominator must not be 0.
Shows: The first output is smaller than the first value.
Hint: What is the first output if there is only one value?
Rejected by: test_first_token
Costs: 30 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is None:
        keys = keys + 1
    else:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
