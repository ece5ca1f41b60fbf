"""Replaces the state by the new token.

Exercise: linear_attention_step
Believes: A new token replaces the old state.
Shows: Each output is the value of its own token.
Hint: What should the state contain after two tokens?
Rejected by: test_next_token
Costs: 45 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (products, keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
