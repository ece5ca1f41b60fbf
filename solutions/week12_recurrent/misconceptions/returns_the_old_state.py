"""Returns the state it was given.

Exercise: linear_attention_step
Believes: The state is updated by the caller.
Shows: The outputs of a sequence see one token each.
Hint: What does the next call know about this token?
Rejected by: test_a_sequence
Costs: 40 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0] + products, state[1] + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys) if state is None else state)
