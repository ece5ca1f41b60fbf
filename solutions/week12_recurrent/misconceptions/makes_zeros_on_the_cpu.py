"""Creates the first state on the CPU.

Exercise: linear_attention_step
Believes: A tensor of zeros may be anywhere.
Shows: An error on a GPU.
Hint: On which device is the result of torch.zeros if you do not say?
Rejected by: test_device
Costs: 15 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is None:
        state = (torch.zeros(products.shape, dtype=wide), torch.zeros(keys.shape, dtype=wide))
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
