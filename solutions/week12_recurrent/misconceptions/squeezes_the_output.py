"""Removes all axes of size 1.

Exercise: linear_attention_step
Believes: Only the axis that was added has size 1.
Shows: A batch of one sequence loses its first axis.
Hint: Which axis do you want to remove? Say which one.
Rejected by: test_singleton_axes
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze()
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
