"""Divides by 1 if the sum of the weights is smaller.

Exercise: linear_attention_step
Believes: A small divisor is dangerous.
Shows: The first outputs are too small if features are small.
Hint: With a single token, what is the output, whatever its weight?
Rejected by: test_small_weights
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = feature_map(q.to(wide)), feature_map(k.to(wide))
    products, keys = key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key
    if state is not None:
        products, keys = state[0] + products, state[1] + keys
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True).clamp(min=1.0)
    return output.to(v.dtype), (products, keys)
