"""Reads the state with the query itself.

Exercise: linear_attention_step
Believes: Only stored vectors are mapped.
Shows: The state is correct, outputs are not.
Hint: In φ(q) · φ(k), how many feature maps are there?
Rejected by: test_next_token
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q.to(wide), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
