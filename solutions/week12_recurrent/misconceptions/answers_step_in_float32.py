"""Returns float32 for half-precision inputs.

Exercise: linear_attention_step
Believes: The caller can convert the result.
Shows: The dtype differs from that of v.
Hint: What dtype does the docstring require?
Rejected by: test_halves
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output, (products, keys))
