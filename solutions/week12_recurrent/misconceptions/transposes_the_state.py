"""Stores values in rows and keys in columns.

Exercise: linear_attention_step
Believes: v kᵀ and k vᵀ are the same.
Shows: An error, or a transposed state if d_k = d_v.
Hint: Which shape has the first sum in the docstring? What are its rows?
Rejected by: test_state_of_a_token
Costs: 30 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (v.to(wide).unsqueeze(-1) * key.unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (products @ query.unsqueeze(-1)).squeeze(-1)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
