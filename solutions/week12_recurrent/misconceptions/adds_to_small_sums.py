"""Adds a small number to the sum of the weights.

Exercise: linear_attention_step
Believes: A small number prevents a division by zero.
Shows: Outputs are too small where the weights are as small as that number.
Hint: Can a sum of positive features be 0? With a single token, what is the output?
Rejected by: test_small_weights
Costs: 15 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = feature_map(q.to(wide)), feature_map(k.to(wide))
    products, keys = key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key
    if state is not None:
        products, keys = state[0] + products, state[1] + keys
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / ((query * keys).sum(dim=-1, keepdim=True) + 1e-6)
    return output.to(v.dtype), (products, keys)
