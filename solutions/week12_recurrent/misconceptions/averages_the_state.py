"""Averages the old state and the token.

Exercise: linear_attention_step
Believes: The sums have to stay bounded.
Shows: Earlier tokens lose weight with every step.
Hint: After three tokens, what is the share of the first one in your state?
Rejected by: test_next_token
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = ((state[0] + products) / 2, (state[1] + keys) / 2)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
