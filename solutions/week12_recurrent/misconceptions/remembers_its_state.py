"""Keeps the state between calls, outside of its arguments.

Exercise: linear_attention_step
Believes: There is one sequence at a time.
Shows: A second sequence continues the first one.
Hint: Run two sequences in turn. Which state does each call use?
Rejected by: test_state_of_more_than_one_caller
Costs: 35 %
"""

remembered = None

def linear_attention_step(state, q, k, v):
    global remembered
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is None:
        remembered = None
    state = remembered if remembered is not None and remembered[0].shape == products.shape else state
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    remembered = (products.detach(), keys.detach())
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
