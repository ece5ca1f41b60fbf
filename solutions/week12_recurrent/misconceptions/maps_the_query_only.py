"""Applies the feature map to the query only.

Exercise: linear_attention_step
Believes: Keys are stored as they are.
Shows: The state contains k vᵀ instead of φ(k) vᵀ.
Hint: What does the docstring say the sums contain?
Rejected by: test_state_of_a_token
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), k.to(wide))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
