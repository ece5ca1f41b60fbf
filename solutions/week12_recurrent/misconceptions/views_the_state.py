"""Uses view on state and inputs.

Exercise: linear_attention_step
Believes: Inputs are contiguous.
Shows: Transposed inputs raise an error.
Hint: What does view need? Which method needs less?
Rejected by: test_views
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        state = (state[0].view(-1).view(state[0].shape), state[1])
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
