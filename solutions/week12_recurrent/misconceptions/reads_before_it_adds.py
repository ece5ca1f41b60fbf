"""Reads the state before adding the token.

Exercise: linear_attention_step
Believes: The state contains the previous tokens.
Shows: The token does not see its own key; the first output is NaN.
Hint: Which keys does the third query see in `linear_attention`?
Rejected by: test_next_token
Costs: 35 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    before = (torch.zeros_like(products), torch.zeros_like(keys)) if state is None else state
    read = (query.unsqueeze(-2) @ before[0]).squeeze(-2)
    output = read / (query * before[1]).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
