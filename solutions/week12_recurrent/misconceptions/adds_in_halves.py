"""Adds in the dtype of the values and converts afterwards.

Exercise: linear_attention_step
Believes: A conversion at the end is enough.
Shows: In float16, small additions to a long sum are lost.
Hint: In which dtype is your addition computed?
Rejected by: test_long_sums_in_halves
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = ((state[0].to(v.dtype) + products.to(v.dtype)).to(wide), (state[1].to(v.dtype) + keys.to(v.dtype)).to(wide))
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
