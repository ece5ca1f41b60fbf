"""Adds to the given state in place.

Exercise: linear_attention_step
Believes: The caller does not need the old state any more.
Shows: The outputs are correct, but the state that was passed has changed.
Hint: Call it twice with the same state. Do the results agree?
Rejected by: test_next_token
Costs: 25 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        with torch.no_grad():
            state[0].add_(products)
            state[1].add_(keys)
        products, keys = state
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
