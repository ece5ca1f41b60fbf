"""Lets no gradient flow to the previous state.

Exercise: linear_attention_step
Believes: The past is fixed.
Shows: No gradient reaches earlier tokens.
Hint: In training, should the loss of this token change earlier keys?
Rejected by: test_gradients
Costs: 25 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        products, keys = (state[0].detach() + products, state[1].detach() + keys)
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
