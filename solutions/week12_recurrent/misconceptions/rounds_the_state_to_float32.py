"""Always keeps the state in float32.

Exercise: linear_attention_step
Believes: States are float32.
Shows: float64 inputs give a float32 state.
Hint: What does the docstring say about float64?
Rejected by: test_double_precision
Costs: 20 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.float32
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
