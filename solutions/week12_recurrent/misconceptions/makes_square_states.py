"""Creates a state with d_k columns.

Exercise: linear_attention_step
Believes: d_v is always d_k.
Shows: An error if d_v differs from d_k.
Hint: How many columns has the first sum in the docstring?
Rejected by: test_sizes_of_heads
Costs: 25 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    products = products + torch.zeros(k.shape[-1], k.shape[-1], device=k.device)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
